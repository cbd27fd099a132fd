package cli

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model"
)

//go:embed starter.yaml
var starter []byte

// shape is what a reader says of a system that there is no file of yet.
type shape struct {
	entrypoint, slo string
	services        []string
	from            []string
}

func newInit(s *streams) *cobra.Command {
	c := &common{streams: s}
	var sh shape
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a small plan to start from",
		Long: `init writes a plan to budgetplan.yaml or FILE, every line explained. A file that exists is left alone, and nothing is asked.

Without flags it is a small example that fits. --services names one's own services, each of which calls the next, with
timeouts that fit into the SLO. --from names the configs of a folder as ` + "`sources`" + `, so that what is checked is what is
deployed; ` + "`budgetplan import`" + ` copies their values instead.`,
		Example: `  budgetplan init
  budgetplan init --entrypoint checkout --slo 1s --services gateway,product,database
  budgetplan init --from deploy/`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file := "budgetplan.yaml"
			if len(args) == 1 {
				file = args[0]
			}
			if _, err := os.Lstat(file); err == nil && file != "-" {
				return usage("name another file, or delete this one", "`%s` exists", file)
			}
			write, err := c.start(&sh, file)
			if err != nil {
				return err
			}
			if err := c.place(file, func(w io.Writer, _ bool, _ int) error { return write(w) }); err != nil {
				return err
			}
			if file != "-" {
				fmt.Fprintf(s.err, "wrote `%s`; next: budgetplan check %s\n", file, shellQuoted(file))
			}
			return nil
		},
	}
	c.register(cmd)
	f := cmd.Flags()
	f.StringVar(&sh.entrypoint, "entrypoint", "", "where requests come in (default: web)")
	f.StringVar(&sh.slo, "slo", "", "what 99% of the answers must make (default: 1s)")
	f.StringSliceVar(&sh.services, "services", nil, "the services, each of which calls the next: gateway,product,database")
	f.StringArrayVar(&sh.from, "from", nil, "make the plan from the configs in FOLDER|FILE; repeatable")
	return cmd
}

// start decides what to write, and has everything read and checked before a file is touched.
func (c *common) start(sh *shape, file string) (write func(io.Writer) error, err error) {
	own := len(sh.services) > 0 || sh.entrypoint != "" || sh.slo != ""
	switch {
	case len(sh.from) > 0 && own:
		return nil, usage("give the entrypoint in the file that --from writes", "--from does not go with --services, --entrypoint and --slo")
	case len(sh.from) > 0:
		r, err := c.must(sh.from, pipeline.Options{Input: true})
		if err != nil {
			return nil, err
		}
		if len(r.Plans) != 1 || hasPlanFile(r.Plans[0]) {
			return nil, usage("`budgetplan check` reads it", "a plan is there already")
		}
		c.tell(r)
		text := fromConfigs(r.Plans[0], filepath.Dir(file))
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }, nil
	case !own:
		return func(w io.Writer) error { _, err := w.Write(starter); return err }, nil
	case len(sh.services) == 0:
		return nil, usage("--services gateway,product,database", "--entrypoint and --slo need --services")
	}
	text, err := sh.plan()
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }, err
}

// plan writes the services as a chain whose timeouts are the solver's.
func (sh *shape) plan() (string, error) {
	if sh.entrypoint == "" {
		sh.entrypoint = "web"
	}
	if sh.slo == "" {
		sh.slo = "1s"
	}
	slo, err := model.ParseDuration(sh.slo)
	if err == nil && slo <= 0 {
		err = fmt.Errorf("`%s` is no time", sh.slo)
	}
	if err != nil {
		return "", usage("", "--slo: %s", err)
	}
	seen := map[string]bool{}
	for i, name := range sh.services {
		name = strings.TrimSpace(name)
		if name == "" || seen[name] {
			return "", usage("name every service once: --services gateway,product,database", "--services has `%s` twice, or an empty name", name)
		}
		seen[name], sh.services[i] = true, name
	}
	if len(sh.services) < 2 {
		return "", usage("--services gateway,product,database", "--services needs two services: one that calls, and one that is called")
	}
	timeouts := chain(slo, len(sh.services)-1)
	if timeouts == nil {
		return "", usage("a longer --slo, or fewer services", "%d calls one below the other leave no millisecond of %s", len(sh.services)-1, slo)
	}
	return sh.text(slo, timeouts), nil
}

func (sh *shape) text(slo model.Duration, timeouts []model.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, `version: 1

entrypoints:
  %s:
    slo: %s  # what 99%% of the answers must make
    # timeout: 5s        when the client gives up
    # overhead: 150ms    client, network, load balancer: never reaches the first service
    call: %s

services:
`, yamlName(sh.entrypoint), slo, yamlName(sh.services[0]))
	for i, name := range sh.services {
		fmt.Fprintf(&b, "  %s:\n", yamlName(name))
		if i == len(sh.services)-1 {
			b.WriteString("    # kind: postgres            a database: with `server_timeout`, its statement_timeout\n    calls: []\n")
			continue
		}
		fmt.Fprintf(&b, `    # local_work: 30ms          the service's own work, besides its calls
    calls:                      # a list runs in order; `+"`parallel:`"+` at once
      - call: %s
        timeout: %s  # its share of the slo, 5%% margin kept at every service
        # latency: {p99: 140ms}  what a call takes, as the caller measures it
        # retries: 1            with `+"`per_try_timeout`, `backoff` and `idempotent: true`"+`
`, yamlName(sh.services[i+1]), timeouts[i])
	}
	return b.String()
}
