/** The style of the frame of all pages: colours of both schemes, system fonts, the header. */
export const FRAME_STYLE = `:root {
  color-scheme: light dark;
  --width: 76rem;
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
  --on-bad: #ffffff;
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
    --on-bad: #2b0906;
    --bad-soft: #3a1f1d;
    --eou: #ab93ef;
    --stt: #4cc0b2;
    --llm: #6daeff;
    --tts: #f0a04b;
  }
}
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
  padding: 0 max(1rem, (100% - var(--width)) / 2 + 1rem);
  background: var(--paper);
  border-bottom: 1px solid var(--line);
}
.product { display: flex; align-items: center; gap: 0.5rem; margin: 0; font-size: 1.0625rem; font-weight: 650; letter-spacing: -0.01em; }
.product path { stroke: var(--accent); stroke-width: 2.5; stroke-linecap: round; fill: none; }
nav { display: flex; gap: 0.25rem; }
nav a { padding: 0.75rem 0.625rem; color: var(--quiet); text-decoration: none; border-bottom: 2px solid transparent; }
nav a[aria-current] { color: var(--ink); border-color: var(--accent); font-weight: 600; }
.product-version { margin: 0 0 0 auto; color: var(--quiet); font-size: 0.8125rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (max-width: 24rem) {
  header { gap: 0.75rem; }
  .product-version { display: none; }
}
@media (min-width: 60rem) {
  header { padding: 0 max(1.5rem, (100% - var(--width)) / 2 + 1.5rem); }
}
`;

/** The style of `/call` and `/calls`: one column on a phone. */
export const STYLE = `${FRAME_STYLE}* { box-sizing: border-box; }
[hidden] { display: none !important; }
main { max-width: var(--width); margin: 0 auto; padding: 1.25rem 1rem 3rem; }
main { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
.desk { display: flex; flex-direction: column; gap: 1rem; }
#key-part { max-width: 34rem; }
h1, h2, h3, p, dl, ol, ul { margin: 0; }
h1 { font-size: 1.375rem; line-height: 1.25; letter-spacing: -0.015em; }
h2 { font-size: 1.0625rem; line-height: 1.3; overflow-wrap: anywhere; }
h3 { font-size: 0.8125rem; color: var(--quiet); font-weight: 600; margin: 1.25rem 0 0.375rem; }
.columns > div > h3:first-child { margin-top: 0; }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: 0.625rem; padding: 1rem; min-width: 0; }
.quiet { color: var(--quiet); font-size: 0.875rem; }
.problem { border-left: 3px solid var(--bad); background: var(--bad-soft); padding: 0.5rem 0.75rem; border-radius: 0.25rem; overflow-wrap: anywhere; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.8125rem; overflow-wrap: anywhere; }

label { display: block; font-weight: 600; margin-bottom: 0.25rem; }
form > * + label, #data label, form details, form details label { margin-top: 0.75rem; }
input, select, textarea, button, .button {
  font: inherit;
  color: inherit;
  min-height: 2.5rem;
  padding: 0.375rem 0.75rem;
  border: 1px solid var(--edge);
  border-radius: 0.375rem;
  background: var(--paper);
  max-width: 100%;
}
input, select, textarea { width: 100%; }
textarea { display: block; resize: vertical; }
::placeholder { color: var(--quiet); opacity: 1; }
button, .button { font-weight: 600; cursor: pointer; text-align: center; text-decoration: none; }
button:hover:not(:disabled), .button:hover { background: var(--soft); }
.small { min-height: 1.5rem; padding: 0 0.375rem; border-color: var(--line); font-size: 0.8125rem; }
button:disabled { color: var(--quiet); border-color: var(--line); cursor: default; }
.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
button.primary:hover:not(:disabled) { background: var(--accent); filter: brightness(1.1); }
.end { border-color: var(--bad); background: var(--bad); color: var(--on-bad); }
button.end:hover:not(:disabled) { background: var(--bad); filter: brightness(1.1); }
button.end:disabled { background: none; }
button[aria-pressed="true"] { border-color: var(--accent); background: var(--soft); color: var(--accent); }
form.card > button { width: 100%; margin-top: 1rem; }
form.card > p { margin-top: 0.5rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-top: 1rem; }
.buttons > * { flex: 1 1 8rem; }
.buttons > .button { padding-top: 0.5rem; }
#unlock { width: 100%; margin-top: 0.5rem; }
a { color: var(--accent); }
/* Scripts move the focus there, the keyboard doesn't: it is for those who listen. */
[tabindex="-1"]:focus { outline: none; }

.status-line { display: flex; justify-content: space-between; gap: 1rem; align-items: baseline; margin-top: 0.25rem; }
#status::before { content: ""; display: inline-block; width: 0.5rem; height: 0.5rem; margin-right: 0.5rem; border-radius: 50%; background: var(--edge); }
#status[data-speaker="speaking"]::before { background: var(--accent); }
#status[data-speaker="listening"]::before { background: var(--good); }
#status[data-speaker="thinking"]::before { background: var(--tts); }
#clock, .time, .facts, .latency, .breakdown, .calls { font-variant-numeric: tabular-nums; }
.meters { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.5rem 0.75rem; align-items: center; margin-top: 1rem; }
.meters p { font-size: 0.8125rem; font-weight: 600; }
.meters canvas { display: block; width: 100%; height: 2.25rem; border-radius: 0.25rem; background: var(--ground); }
#user-level { color: var(--good); }
#agent-level { color: var(--accent); }

.facts { display: grid; grid-template-columns: fit-content(50%) minmax(0, 1fr); gap: 0.25rem 1rem; align-items: baseline; font-size: 0.875rem; }
.facts > div { display: contents; }
.facts dt { color: var(--quiet); overflow-wrap: anywhere; }
.facts dd { display: flex; align-items: baseline; gap: 0.5rem; margin: 0; overflow-wrap: anywhere; min-width: 0; }
.facts code { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.facts .small { flex: none; }

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
.timeline:not(:empty) + .placeholder { display: none; }
.placeholder { margin-top: 0.5rem; }
.tag { display: inline-block; padding: 0 0.375rem; border: 1px solid var(--line); border-radius: 0.25rem; font-size: 0.8125rem; overflow-wrap: anywhere; }
.interrupted { color: var(--tts); font-size: 0.8125rem; }
.tag.failed { color: var(--bad); border-color: currentColor; }
.tag.live { color: var(--good); border-color: currentColor; }
.tag.unusual { border-color: var(--edge); }
.tags { display: flex; flex-wrap: wrap; gap: 0.375rem; list-style: none; padding: 0; margin-top: 0.25rem; }
.tags .quiet { font-size: inherit; }
details summary { cursor: pointer; }
details summary .tag { margin-left: 0.5rem; }
pre { margin: 0.5rem 0 0; padding: 0.5rem 0.75rem; background: var(--ground); border-radius: 0.25rem; white-space: pre-wrap; max-height: 16rem; overflow-y: auto; }

.latency { margin-top: 0.25rem; font-size: 0.8125rem; }
.latency summary { width: fit-content; padding: 0.125rem 0; color: var(--quiet); }
.latency.slow summary { color: var(--tts); font-weight: 600; }
.latency .breakdown { margin-top: 0.25rem; max-width: 32rem; }
.breakdown { font-size: 0.8125rem; }
.breakdown > div { display: grid; grid-template-columns: 6.75rem minmax(0, 1fr) 3.5rem; gap: 0.5rem; align-items: center; }
.breakdown dt { color: var(--quiet); }
.breakdown dd { display: contents; }
.breakdown svg { width: 100%; height: 0.4375rem; background: var(--ground); fill: var(--ink); }
.breakdown b { font-weight: 400; text-align: right; }
.breakdown .v2v :is(dt, b) { color: var(--ink); font-weight: 650; }
.breakdown .eou svg { fill: var(--eou); }
.breakdown .stt svg { fill: var(--stt); height: 0.25rem; }
.breakdown .stt dt { padding-left: 0.75rem; }
.breakdown .llm_ttft svg { fill: var(--llm); }
.breakdown .tts_ttfb svg { fill: var(--tts); }
.axis { display: flex; justify-content: space-between; color: var(--quiet); border-top: 1px solid var(--line); }
.swatch { display: inline-block; width: 0.5rem; height: 0.5rem; border-radius: 2px; margin-right: 0.3125rem; }

.filter .fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.75rem; }
#filter-toggle { display: none; }
.row { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 0.75rem; align-items: baseline; }
.calls { list-style: none; padding: 0; margin: 0 -0.5rem; }
.calls h2 { padding: 1rem 0.5rem 0.25rem; font-size: 0.875rem; }
.calls a { display: flex; flex-wrap: wrap; gap: 0 0.75rem; align-items: baseline; padding: 0.5rem; border-radius: 0.375rem; color: inherit; text-decoration: none; font-size: 0.875rem; }
.calls a:hover { background: var(--soft); }
.calls a[aria-current] { background: var(--soft); box-shadow: inset 3px 0 var(--accent); }
.calls .name { flex: 1; font-weight: 600; overflow-wrap: anywhere; }
.calls .said { flex: 1 0 100%; min-height: 1.5em; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.calls .way { flex: 1 0 auto; color: var(--quiet); }
.calls .figures { display: flex; gap: 0.75rem; color: var(--quiet); }
#call-line { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; margin-top: 0.25rem; }
#live-part { margin-top: 1rem; padding: 0.75rem; background: var(--ground); border-radius: 0.375rem; }
#live-part .state { font-weight: 600; }
#live-part .state::before { content: ""; display: inline-block; width: 0.5rem; height: 0.5rem; margin-right: 0.5rem; border-radius: 50%; background: var(--good); }
#live-form { margin-top: 0.75rem; }
#live-note:not(:empty) { margin-top: 0.5rem; }
#more { width: 100%; margin-top: 0.75rem; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem 1.5rem; margin-top: 1rem; }
.position { height: 6rem; border-radius: 0.25rem; background: var(--ground); cursor: pointer; }
.position canvas { display: block; width: 100%; height: 100%; pointer-events: none; }
.playing { display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: center; margin-top: 0.5rem; }
#play { min-width: 5rem; }
#download { margin-left: auto; }
.lanes .swatch { margin-left: 0; }
.lanes .agent { margin-left: 0.75rem; background: var(--accent); }
.lanes .user { background: var(--good); }
.deliveries { list-style: none; padding: 0; }
.deliveries li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 0.75rem; align-items: baseline; padding: 0.375rem 0; }
.deliveries li + li { border-top: 1px solid var(--line); }
.deliveries .quiet { grid-column: 1 / -1; }

@media (max-width: 59.99rem) {
  main.open > #filter, main.open #list-part { display: none; }
  main[data-part="setup"] #conversation-part { display: none; }
  /* Mute and hang up stay in view, and so does what is said last. */
  main[data-part="call"] .side { position: sticky; top: 0; z-index: 1; }
  main[data-part="call"] .scroll { max-height: max(12rem, calc(100dvh - 19rem)); overflow-y: auto; }
  .meters { grid-template-columns: max-content minmax(0, 1fr) max-content minmax(0, 1fr); }
  .meters canvas { height: 1.5rem; }
}
@media (min-width: 60rem) {
  main { padding: 1.5rem; }
  main[data-part] .desk {
    display: grid;
    grid-template: "side conversation" auto "record conversation" 1fr / 22rem minmax(0, 1fr);
    align-items: start;
  }
  .side { grid-area: side; }
  #record-part { grid-area: record; }
  #conversation-part { grid-area: conversation; position: sticky; top: 1.5rem; min-height: 24rem; }
  #conversation-part .scroll { max-height: calc(100vh - 13.5rem); overflow-y: auto; scrollbar-width: thin; padding-right: 0.5rem; }
  main.open .desk { display: grid; grid-template-columns: 22rem minmax(0, 1fr); align-items: start; }
  main.open #back { display: none; }
  main:not(.open) .calls a { display: grid; grid-template: "time name said way figures outcome" / 4.5rem 11rem minmax(0, 1fr) 11rem 8rem 13rem; }
  main:not(.open) .calls .time { grid-area: time; }
  main:not(.open) .calls .name { grid-area: name; }
  main:not(.open) .calls .said { grid-area: said; }
  main:not(.open) .calls .way { grid-area: way; overflow-wrap: anywhere; }
  main:not(.open) .calls .figures { grid-area: figures; }
  main:not(.open) .calls .outcome { grid-area: outcome; justify-self: end; }
  .columns { grid-template-columns: minmax(0, 1fr) 20rem; }
  .columns > :last-child { position: sticky; top: 1.5rem; align-self: start; }
}
@media (max-width: 40rem) {
  #filter-toggle { display: block; width: 100%; }
  #filter-toggle[aria-expanded="false"] + .fields { display: none; }
  #filter-toggle + .fields { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); margin-top: 0.75rem; }
  .timeline > li { grid-template-columns: minmax(0, 1fr); }
  .head { flex-direction: row; gap: 0.625rem; align-items: baseline; }
  input, select, button:not(.time, .small) { min-height: 2.75rem; }
}
`;
