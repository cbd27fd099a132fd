package diagram_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/diagram"
)

// extent is a rectangle of a picture in px.
type extent struct {
	x0, y0, x1, y1 float64
	text           string // empty for a box
}

func (e extent) apart(f extent) bool {
	return e.x1 <= f.x0 || f.x1 <= e.x0 || e.y1 <= f.y0 || f.y1 <= e.y0
}

func (e extent) within(f extent) bool {
	return e.x0 >= f.x0 && e.x1 <= f.x1 && e.y0 >= f.y0 && e.y1 <= f.y1
}

// drawing is what a reader of the SVG sees.
type drawing struct {
	w, h         float64
	texts, boxes []extent
	paths        []string
	title, desc  string
}

// advances are Helvetica's, in thousandths of the size, for classes of characters: an estimate that has nothing to do
// with the table that the pictures are made with.
func advance(r rune) float64 {
	switch {
	case strings.ContainsRune("ijl.,:;'|! ", r):
		return 278
	case strings.ContainsRune("ft()/-\"", r):
		return 333
	case strings.ContainsRune("mwMW%@", r):
		return 890
	case r >= 'A' && r <= 'Z':
		return 700
	case r < 0x80:
		return 556
	}
	return 1000
}

func read(t *testing.T, svg []byte) *drawing {
	t.Helper()
	d := &drawing{}
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	number := func(e xml.StartElement, name string) float64 {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				f, err := strconv.ParseFloat(a.Value, 64)
				if err != nil {
					t.Fatalf("%s of %s: %v", name, e.Name.Local, err)
				}
				return f
			}
		}
		return 0
	}
	var open xml.StartElement
	for {
		token, err := decoder.Token()
		if token == nil {
			if err.Error() != "EOF" {
				t.Fatalf("no XML: %v", err)
			}
			return d
		}
		switch e := token.(type) {
		case xml.StartElement:
			open = e
			switch e.Name.Local {
			case "svg":
				d.w, d.h = number(e, "width"), number(e, "height")
			case "rect":
				x, y := number(e, "x"), number(e, "y")
				d.boxes = append(d.boxes, extent{x, y, x + number(e, "width"), y + number(e, "height"), ""})
			case "path":
				for _, a := range e.Attr {
					if a.Name.Local == "d" {
						d.paths = append(d.paths, a.Value)
					}
				}
			}
		case xml.CharData:
			switch open.Name.Local {
			case "title":
				d.title = string(e)
			case "desc":
				d.desc = string(e)
			case "text":
				size := number(open, "font-size")
				x, y, width := number(open, "x"), number(open, "y"), 0.0
				for _, r := range string(e) {
					width += advance(r) * size / 1000
				}
				// From the top of `l` to the foot of `p`.
				d.texts = append(d.texts, extent{x, y - 0.75*size, x + width, y + 0.22*size, string(e)})
			}
		case xml.EndElement:
			open = xml.StartElement{}
		}
	}
}

// overlaps says what lies on what: a text on a text, a text across the edge of a box, and, where boxes are those of a
// graph, a box across a box; everything must lie within the picture.
func (d *drawing) overlaps(boxes bool) (found []string) {
	for i, a := range d.texts {
		if a.x0 < 0 || a.y0 < 0 || a.x1 > d.w || a.y1 > d.h {
			found = append(found, fmt.Sprintf("%q leaves the picture", a.text))
		}
		for _, b := range d.texts[i+1:] {
			if !a.apart(b) {
				found = append(found, fmt.Sprintf("%q and %q", a.text, b.text))
			}
		}
		for _, b := range d.boxes {
			if !a.apart(b) && !a.within(b) {
				found = append(found, fmt.Sprintf("%q and the box at %v", a.text, b))
			}
		}
	}
	for i, a := range d.boxes {
		for _, b := range d.boxes[i+1:] {
			if boxes && !a.apart(b) && !a.within(b) && !b.within(a) {
				found = append(found, fmt.Sprintf("the boxes at %v and %v", a, b))
			}
		}
	}
	return found
}

func svg(t *testing.T, r *render.Renderer, ins ...*render.Input) []byte {
	t.Helper()
	var out, again bytes.Buffer
	if err := r.Write(&out, ins); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(&again, ins); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("drawn twice, the picture differs: %v", err)
	}
	return out.Bytes()
}

// examplePlans are the plans of the examples.
func examplePlans(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*/budgetplan.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	plans := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plans[filepath.Base(filepath.Dir(file))] = string(data)
	}
	return plans
}

const fewServices = 60

func TestNothingOverlaps(t *testing.T) {
	plans := examplePlans(t)
	check := func(t *testing.T, name, plan string) {
		in := load(t, []byte(plan))
		if len(in.Plan.Services) >= fewServices {
			return
		}
		graph, waterfall := svg(t, diagram.SVG, in), svg(t, diagram.WaterfallSVG, in)
		keep(t, name+".svg", graph)
		keep(t, name+".waterfall.svg", waterfall)
		g := read(t, graph)
		for _, o := range append(g.overlaps(true), g.crossed()...) {
			t.Errorf("%s: graph: %s", name, o)
		}
		w := read(t, waterfall)
		for _, o := range w.overlaps(false) {
			t.Errorf("%s: waterfall: %s", name, o)
		}
		if len(g.texts) < len(in.Plan.Services) || g.title == "" || g.desc == "" || w.title == "" || w.desc == "" {
			t.Errorf("%s: %d texts, titles %q and %q", name, len(g.texts), g.title, w.title)
		}
	}
	for _, name := range mapKeys(plans) {
		check(t, name, plans[name])
	}
	t.Run("topologies", func(t *testing.T) {
		plans := topologyPlans(t)
		for _, name := range mapKeys(plans) {
			check(t, name, plans[name])
		}
	})
}

// keep writes a picture to look at into the folder that PICTURES names.
func keep(t *testing.T, name string, picture []byte) {
	t.Helper()
	if dir := os.Getenv("PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What the tool wrote beside the examples is looked at as it is.
func TestWrittenPictures(t *testing.T) {
	for _, pattern := range []string{"../../examples/*/*.svg", "../../docs/images/*.svg"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no picture: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range read(t, data).overlaps(strings.Contains(file, "graph")) {
				t.Errorf("%s: %s", file, o)
			}
			if strings.Contains(strings.ReplaceAll(string(data), "http://www.w3.org/2000/svg", ""), "http") {
				t.Errorf("%s refers to something outside", file)
			}
		}
	}
}

// Of two rectangles that cross, that lie in each other and that are apart, only the first overlap.
func TestOverlaps(t *testing.T) {
	d := drawing{w: 100, h: 100, texts: []extent{{10, 10, 20, 20, "a"}, {15, 15, 25, 25, "b"}, {50, 50, 60, 60, "c"}}}
	d.boxes = []extent{{55, 40, 80, 80, ""}, {0, 0, 100, 100, ""}, {70, 70, 90, 90, ""}}
	if got := d.overlaps(true); len(got) != 3 {
		t.Errorf("%q, want a on b, c on a box, and a box on a box", got)
	}
}

var piece = regexp.MustCompile(`([MLC])([-0-9 ]+)`)

// crossed says which arrows run through a text or a box of a service. Curves are looked at in steps.
func (d *drawing) crossed() (found []string) {
	for _, path := range d.paths {
		if strings.HasSuffix(path, "Z") {
			continue // a head
		}
		for _, p := range points(path) {
			for _, e := range d.texts {
				if p[0] > e.x0+1 && p[0] < e.x1-1 && p[1] > e.y0+2 && p[1] < e.y1-2 {
					found = append(found, fmt.Sprintf("an arrow crosses %q at %v", e.text, p))
				}
			}
		}
	}
	return found
}

// points walks along a path of moves, lines and cubic curves.
func points(path string) (list [][2]float64) {
	const steps = 64
	var x, y float64
	for _, m := range piece.FindAllStringSubmatch(path, -1) {
		var c []float64
		for _, f := range strings.Fields(m[2]) {
			v, _ := strconv.ParseFloat(f, 64)
			c = append(c, v)
		}
		if m[1] != "C" {
			c = []float64{x, y, c[0], c[1], c[0], c[1]}
		}
		for i := 0; i <= steps && m[1] != "M"; i++ {
			s := float64(i) / steps
			a, b, e, f := (1-s)*(1-s)*(1-s), 3*s*(1-s)*(1-s), 3*s*s*(1-s), s*s*s
			list = append(list, [2]float64{a*x + b*c[0] + e*c[2] + f*c[4], a*y + b*c[1] + e*c[3] + f*c[5]})
		}
		x, y = c[len(c)-2], c[len(c)-1]
	}
	return list
}
