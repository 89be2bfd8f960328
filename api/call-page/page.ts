/** The page itself. Everything it does is in the script; without it there is nothing to do. */
export const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>Talk to an agent</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/call/style.css">
  </head>
  <body>
    <main>
      <h1>Talk to an agent</h1>
      <noscript><p>This page needs JavaScript.</p></noscript>
      <p id="problem" role="alert" hidden></p>

      <form id="key-part" hidden>
        <label for="key">API key</label>
        <input id="key" type="password" autocomplete="off" spellcheck="false" autocapitalize="none" aria-describedby="key-note" required>
        <p id="key-note" class="note">It stays in this page and is forgotten when you close it. It needs the permission
          <code>calls:create</code>.</p>
        <button type="submit">Go on</button>
      </form>

      <form id="setup-part" hidden>
        <label for="agent">Agent</label>
        <select id="agent" required></select>
        <div id="data"></div>
        <button type="submit" id="start">Call</button>
        <p id="insecure" class="note" hidden>Browsers give the microphone to pages from this machine or over https only.</p>
      </form>

      <section id="call-part" aria-label="Call" hidden>
        <p id="status" role="status"></p>
        <p id="clock" class="note" aria-hidden="true"></p>
        <div class="buttons">
          <button type="button" id="mute" aria-pressed="false">Mute</button>
          <button type="button" id="hang-up" class="end">Hang up</button>
        </div>
        <button type="button" id="unlock" hidden>Turn the sound on</button>
      </section>

      <section id="summary-part" aria-label="What came of the call" hidden>
        <p id="ending" tabindex="-1"></p>
        <dl id="facts"></dl>
        <table id="latencies" hidden>
          <caption>Answers of the agent</caption>
          <thead></thead>
          <tbody></tbody>
        </table>
        <p id="recording-note" class="note" role="status"></p>
        <audio id="player" controls hidden></audio>
        <a id="download" hidden>Save the recording</a>
        <button type="button" id="again">Call again</button>
      </section>

      <section id="transcript-part" aria-label="Transcript" hidden>
        <h2>Transcript</h2>
        <ol id="transcript" role="log" aria-live="polite"></ol>
        <p id="being-said" aria-hidden="true"></p>
      </section>
      <div id="voices" hidden></div>
    </main>
    <script type="module" src="/call/call-page.js"></script>
  </body>
</html>
`;

export const style = `:root {
  color-scheme: light dark;
  --ink: #1b1f24;
  --quiet: #57606a;
  --paper: #ffffff;
  --line: #8c959f;
  --accent: #0a5fb4;
  --end: #b3261e;
  --user: #e6f0fa;
  --agent: #f0f1f3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e8eb;
    --quiet: #a5acb5;
    --paper: #15181c;
    --line: #6b737d;
    --accent: #6db3ff;
    --end: #ff8a80;
    --user: #16304a;
    --agent: #24282e;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0;
  background: var(--paper);
  color: var(--ink);
  font: 1.0625rem/1.5 system-ui, sans-serif;
}
main { max-width: 38rem; margin: 0 auto; padding: 1rem 1rem 4rem; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.125rem; margin-bottom: 0.25rem; }
label { display: block; font-weight: 600; margin-top: 0.75rem; }
input, select, button {
  font: inherit;
  color: inherit;
  width: 100%;
  min-height: 3rem;
  margin-top: 0.25rem;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--paper);
}
button { margin-top: 1rem; border-color: var(--accent); color: var(--accent); font-weight: 600; cursor: pointer; }
button:disabled { opacity: 0.6; cursor: default; }
button.end { border-color: var(--end); color: var(--end); }
button[aria-pressed="true"] { background: var(--accent); color: var(--paper); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.buttons { display: flex; gap: 0.75rem; }
.note { color: var(--quiet); font-size: 0.9375rem; }
#problem { border-left: 4px solid var(--end); padding: 0.25rem 0.75rem; }
#status { font-size: 1.25rem; min-height: 1.5em; margin-bottom: 0; }
#clock { margin-top: 0; }
#transcript { list-style: none; margin: 0; padding: 0; }
#transcript li, #being-said { margin: 0.5rem 0; padding: 0.5rem 0.75rem; border-radius: 0.5rem; background: var(--agent); overflow-wrap: anywhere; }
#transcript li.user { background: var(--user); margin-left: 2rem; }
#transcript li.agent { margin-right: 2rem; }
#being-said { color: var(--quiet); font-style: italic; }
#being-said:empty { display: none; }
.who { font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; display: block; overflow-x: auto; }
caption { text-align: left; font-weight: 600; }
th, td { text-align: right; padding: 0.25rem 0.5rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child { text-align: left; }
audio { width: 100%; }
a { color: var(--accent); display: inline-block; padding: 0.5rem 0; }
`;
