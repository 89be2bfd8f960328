import { recordingHtml } from './recording.ts';
import { pageHtml } from './shell.ts';

const meter = (id: string, name: string, label: string): string => `
            <p>${name}</p>
            <canvas id="${id}" role="meter" aria-label="${label}" aria-valuemin="0" aria-valuemax="100" aria-valuenow="0"></canvas>`;

/** Returns the page `/call`. @param script name of its script's file */
export function callPage(script: string): string {
  return pageHtml({
    path: '/call',
    title: 'Talk to an agent',
    script,
    keyNote: 'It needs the permission <code>calls:create</code>.',
    main: `
      <div class="desk">
        <form id="setup-part" class="card side" hidden>
          <label for="agent">Agent</label>
          <select id="agent" required></select>
          <div id="data"></div>
          <details id="more-data">
            <summary>More data</summary>
            <label for="data-lines">Dynamic data</label>
            <textarea id="data-lines" rows="3" spellcheck="false" autocapitalize="none" placeholder="name=value" aria-describedby="data-note"></textarea>
            <p id="data-note" class="quiet">One <code>name=value</code> on each line, for <code>{{name}}</code> in the agent's texts.</p>
            <label for="metadata-lines">Metadata</label>
            <textarea id="metadata-lines" rows="2" spellcheck="false" autocapitalize="none" placeholder="name=value" aria-describedby="metadata-note"></textarea>
            <p id="metadata-note" class="quiet">Kept with the call, to find it again.</p>
          </details>
          <button type="submit" id="start" class="primary">Call</button>
          <p id="insecure" class="quiet" hidden>Browsers give the microphone to pages from this machine or over https only.</p>
        </form>

        <section id="call-part" class="card side" aria-label="Call" hidden>
          <p class="status-line"><span id="status" role="status" tabindex="-1"></span><span id="clock" class="quiet" aria-hidden="true"></span></p>
          <div class="meters">${meter('user-level', 'You', 'Your level')}${meter('agent-level', 'Agent', 'Level of the agent')}
          </div>
          <div class="buttons">
            <button type="button" id="mute" aria-pressed="false">Mute</button>
            <button type="button" id="hang-up" class="end">Hang up</button>
          </div>
          <button type="button" id="unlock" class="primary" hidden>Turn the sound on</button>
        </section>

        <section id="summary-part" class="card side" aria-label="Outcome of the call" hidden>
          <h2 id="ending" tabindex="-1"></h2>
          <div class="buttons">
            <button type="button" id="again" class="primary">Call again</button>
            <a id="call-link" class="button">Open this call</a>
          </div>
        </section>

        <section id="conversation-part" class="card" aria-label="Conversation" hidden>
          <h2>Conversation</h2>
          <div id="scroll" class="scroll" role="region" aria-label="What was said and done" tabindex="0">
            <ol id="timeline" class="timeline"></ol>
            <p class="quiet placeholder">What is said appears here, and what the agent does: tools, sources, latencies.</p>
          </div>
          <div id="spoken" class="unseen" role="log" aria-label="What was said"></div>
        </section>

        <section id="record-part" class="card" aria-label="Record of the call" hidden>
          <dl id="facts" class="facts"></dl>
          <div id="median" hidden></div>
          <div id="analysis" hidden></div>
          ${recordingHtml('You')}
        </section>
      </div>
      <div id="voices" hidden></div>`,
  });
}
