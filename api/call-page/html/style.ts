/** The style of both pages: system fonts, both colour schemes, one column on a phone. */
export const STYLE = `:root {
  color-scheme: light dark;
  --ground: #f5f6f8;
  --paper: #ffffff;
  --ink: #171b22;
  --quiet: #545d6b;
  --line: #dde1e7;
  --edge: #7c8694;
  --accent: #1d5bbf;
  --on-accent: #ffffff;
  --soft: #e9f0fb;
  --good: #17714a;
  --bad: #b3261e;
  --bad-soft: #fbeceb;
  --eou: #7a5cc7;
  --stt: #14857a;
  --llm: #1d6fd6;
  --tts: #a9540a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1216;
    --paper: #171b21;
    --ink: #e7eaee;
    --quiet: #a3acb8;
    --line: #2c323b;
    --edge: #727d8b;
    --accent: #7fb2ff;
    --on-accent: #0f1a2b;
    --soft: #1b293d;
    --good: #5cc796;
    --bad: #ff9389;
    --bad-soft: #3a1f1d;
    --eou: #ab93ef;
    --stt: #4cc0b2;
    --llm: #6daeff;
    --tts: #f0a04b;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0;
  background: var(--ground);
  color: var(--ink);
  font: 0.9375rem/1.5 system-ui, sans-serif;
}
header {
  display: flex;
  align-items: center;
  gap: 1.5rem;
  padding: 0 1rem;
  background: var(--paper);
  border-bottom: 1px solid var(--line);
}
.product { display: flex; align-items: center; gap: 0.5rem; margin: 0; font-size: 1.0625rem; font-weight: 650; letter-spacing: -0.01em; }
.product path { stroke: var(--accent); stroke-width: 2.5; stroke-linecap: round; fill: none; }
nav { display: flex; gap: 0.25rem; }
nav a { padding: 0.75rem 0.625rem; color: var(--quiet); text-decoration: none; border-bottom: 2px solid transparent; }
nav a[aria-current] { color: var(--ink); border-color: var(--accent); font-weight: 600; }
main { max-width: 34rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
main.wide { max-width: 80rem; }
h1, h2, h3, p, dl, ol, ul { margin: 0; }
h1 { font-size: 1.375rem; line-height: 1.25; letter-spacing: -0.015em; }
h2 { font-size: 1.0625rem; line-height: 1.3; overflow-wrap: anywhere; }
h3 { font-size: 0.8125rem; color: var(--quiet); font-weight: 600; margin: 1.25rem 0 0.375rem; }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: 0.625rem; padding: 1rem; min-width: 0; }
.quiet { color: var(--quiet); font-size: 0.875rem; }
.problem { border-left: 3px solid var(--bad); background: var(--bad-soft); padding: 0.5rem 0.75rem; border-radius: 0.25rem; overflow-wrap: anywhere; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.8125rem; overflow-wrap: anywhere; }

label { display: block; font-weight: 600; margin-bottom: 0.25rem; }
form > * + label, #data label { margin-top: 0.75rem; }
input, select, button, .button {
  font: inherit;
  color: inherit;
  min-height: 2.5rem;
  padding: 0.375rem 0.75rem;
  border: 1px solid var(--edge);
  border-radius: 0.375rem;
  background: var(--paper);
  max-width: 100%;
}
input, select { width: 100%; }
button, .button { font-weight: 600; cursor: pointer; text-align: center; text-decoration: none; }
button:hover:not(:disabled), .button:hover { background: var(--soft); }
button:disabled { color: var(--quiet); border-color: var(--line); cursor: default; }
.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
button.primary:hover:not(:disabled) { background: var(--accent); filter: brightness(1.1); }
.end { border-color: var(--bad); color: var(--bad); }
button[aria-pressed="true"] { border-color: var(--accent); background: var(--soft); color: var(--accent); }
form.card > button { width: 100%; margin-top: 1rem; }
form.card > p { margin-top: 0.5rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-top: 1rem; }
.buttons > * { flex: 1 1 8rem; }
.buttons > .button { padding-top: 0.5rem; }
#unlock { width: 100%; margin-top: 0.5rem; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }

.status-line { display: flex; justify-content: space-between; gap: 1rem; align-items: baseline; margin-top: 0.25rem; }
#status::before { content: ""; display: inline-block; width: 0.5rem; height: 0.5rem; margin-right: 0.5rem; border-radius: 50%; background: var(--edge); }
#status[data-speaker="speaking"]::before { background: var(--accent); }
#status[data-speaker="listening"]::before { background: var(--good); }
#status[data-speaker="thinking"]::before { background: var(--tts); }
#clock, .time, .facts, .waterfall { font-variant-numeric: tabular-nums; }
.meters { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.5rem 0.75rem; align-items: center; margin-top: 1rem; }
.meters p { font-size: 0.8125rem; font-weight: 600; }
.meters canvas { display: block; width: 100%; height: 2.25rem; border-radius: 0.25rem; background: var(--ground); }
#user-level { color: var(--good); }
#agent-level { color: var(--accent); }

.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.25rem 1rem; font-size: 0.875rem; }
h2 + .facts { margin-top: 0.5rem; }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
audio { display: block; width: 100%; margin-top: 0.5rem; }
#download { display: inline-block; margin-top: 0.5rem; }

.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.timeline { list-style: none; padding: 0; margin-top: 0.5rem; }
.timeline > li { display: grid; grid-template-columns: 4.5rem minmax(0, 1fr); gap: 0.125rem 1rem; padding: 0.625rem 0; }
.timeline > li + li { border-top: 1px solid var(--line); }
.head { display: flex; flex-direction: column; align-items: flex-start; }
.who { font-weight: 650; font-size: 0.875rem; }
.user .who { color: var(--good); }
.agent .who { color: var(--accent); }
.tool .who { color: var(--quiet); }
.time { color: var(--quiet); font-size: 0.8125rem; }
button.time { min-height: 1.5rem; padding: 0 0.375rem; margin-left: -0.4375rem; border-color: transparent; background: none; text-decoration: underline; font-weight: 400; }
.words { overflow-wrap: anywhere; }
.interim .words { color: var(--quiet); }
.interim .words::after { content: " …"; }
.tag { display: inline-block; padding: 0 0.375rem; border: 1px solid var(--line); border-radius: 0.25rem; font-size: 0.8125rem; overflow-wrap: anywhere; }
.tag.interrupted { color: var(--tts); border-color: currentColor; }
.tag.failed { color: var(--bad); border-color: currentColor; }
.tags { display: flex; flex-wrap: wrap; gap: 0.375rem; list-style: none; padding: 0; margin-top: 0.25rem; }
.tags .quiet { font-size: inherit; }
details summary { cursor: pointer; }
details summary .tag { margin-left: 0.5rem; }
pre { margin: 0.5rem 0 0; padding: 0.5rem 0.75rem; background: var(--ground); border-radius: 0.25rem; white-space: pre-wrap; max-height: 16rem; overflow-y: auto; }

.waterfall { margin-top: 0.5rem; }
.waterfall svg { display: block; background: linear-gradient(90deg, var(--line) 1px, transparent 1px) 0 0 / 25% 100%; }
.waterfall ul { display: flex; flex-wrap: wrap; gap: 0 0.75rem; list-style: none; padding: 0; margin-top: 0.25rem; font-size: 0.75rem; color: var(--quiet); }
.waterfall b { color: var(--ink); font-weight: 600; }
.swatch { display: inline-block; width: 0.5rem; height: 0.5rem; border-radius: 2px; margin-right: 0.3125rem; }
.stage-eou { fill: var(--eou); background: var(--eou); }
.stage-stt { fill: var(--stt); background: var(--stt); }
.stage-llm_ttft { fill: var(--llm); background: var(--llm); }
.stage-tts_ttfb { fill: var(--tts); background: var(--tts); }

.filter { display: grid; padding: 0.75rem 1rem; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 0.75rem; align-items: end; }
form.filter > button { width: auto; margin: 0; }
.calls { list-style: none; padding: 0; margin: 0.5rem -0.5rem 0; }
.calls a { display: block; padding: 0.5rem; border-radius: 0.375rem; color: inherit; text-decoration: none; }
.calls .row { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 0.75rem; align-items: baseline; }
.calls a:hover { background: var(--soft); }
.calls a[aria-current] { background: var(--soft); box-shadow: inset 3px 0 var(--accent); }
.calls .name { font-weight: 600; overflow-wrap: anywhere; }
#more { width: 100%; margin-top: 0.75rem; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 1.5rem; }
.position { height: 6rem; border-radius: 0.25rem; background: var(--ground); cursor: pointer; }
.position canvas { display: block; width: 100%; height: 100%; pointer-events: none; }
.lanes .swatch { margin-left: 0; }
.lanes .agent { margin-left: 0.75rem; background: var(--accent); }
.lanes .user { background: var(--good); }
.deliveries { list-style: none; padding: 0; }
.deliveries li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 0.75rem; align-items: baseline; padding: 0.375rem 0; }
.deliveries li + li { border-top: 1px solid var(--line); }
.deliveries .quiet { grid-column: 1 / -1; }

@media (max-width: 59.99rem) {
  main.open > #filter, main.open > #list-part { display: none; }
}
@media (min-width: 60rem) {
  main.wide > #filter, main.wide:not(.open) > #list-part { grid-column: 1 / -1; }
  main.open #back { display: none; }
  #inspector > .facts { grid-template-columns: max-content minmax(0, 1fr) max-content minmax(0, 2fr); }
  .columns { grid-template-columns: minmax(0, 1fr) 20rem; }
  .columns > :last-child { position: sticky; top: 1.5rem; align-self: start; }

  header { padding: 0 1.5rem; }
  main { padding: 1.5rem; }
  main.wide { grid-template-columns: 22rem minmax(0, 1fr); align-items: start; }
  main.wide > h1, main.wide > .problem { grid-column: 1 / -1; }
  main.wide > .side { position: sticky; top: 1.5rem; }
  #conversation-part .scroll { max-height: calc(100vh - 13.5rem); overflow-y: auto; scrollbar-width: thin; padding-right: 0.5rem; }
}
@media (max-width: 40rem) {
  .timeline > li { grid-template-columns: minmax(0, 1fr); }
  .head { flex-direction: row; gap: 0.625rem; align-items: baseline; }
  input, select, button:not(.time) { min-height: 2.75rem; }
}
`;
