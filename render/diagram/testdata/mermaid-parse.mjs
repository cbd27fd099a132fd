// Reads a list of Mermaid charts from standard input and prints what Mermaid makes of each.
import {readFileSync} from 'node:fs';
import {JSDOM} from 'jsdom';
const {window} = new JSDOM('<!doctype html><body></body>');
globalThis.window = window;
globalThis.document = window.document;
const {default: mermaid} = await import('mermaid');
await mermaid.parse('flowchart LR'); // loads the kinds of diagrams

const text = (html) => {
  const div = window.document.createElement('div');
  div.innerHTML = (html ?? '').replaceAll('ﬂ°°', '&#').replaceAll('ﬂ°', '&').replaceAll('¶ß', ';').replaceAll('<br>', '\n');
  return div.textContent;
};
const out = [];
for (const chart of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    const {db} = await mermaid.mermaidAPI.getDiagramFromText(chart);
    out.push({
      Vertices: [...db.getVertices().values()].map((v) => ({ID: v.id, Text: text(v.text)})),
      Edges: db.getEdges().map((e) => ({Start: e.start, End: e.end, Text: text(e.text)})),
      Groups: db.getSubGraphs().map((g) => ({ID: g.id, Title: text(g.title)})),
    });
  } catch (e) {
    out.push({Error: String(e)});
  }
}
console.log(JSON.stringify(out));
