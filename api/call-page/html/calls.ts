import { callStatuses } from '../../../store/index.ts';
import { pageHtml } from './shell.ts';

/** The page `/calls`. @param script name of its script's file */
export function callsPage(script: string): string {
  const states = callStatuses.map((status) => `<option>${status}</option>`).join('');
  return pageHtml({
    path: '/calls',
    title: 'Calls',
    script,
    keyNote:
      'It needs the permission <code>calls:read</code>; with <code>recordings:read</code> and <code>webhooks:read</code> it shows recordings and deliveries, too.',
    main: `
      <form id="filter" class="card filter" aria-label="Filter" hidden>
        <div><label for="agent">Agent</label><input id="agent" list="agents" placeholder="any" autocomplete="off" spellcheck="false"><datalist id="agents"></datalist></div>
        <div><label for="status">State</label><select id="status"><option value="">any</option>${states}</select></div>
        <div><label for="from">Started after</label><input id="from" type="datetime-local"></div>
        <div><label for="to">Started before</label><input id="to" type="datetime-local"></div>
        <button type="submit" class="primary">Show</button>
      </form>

      <section id="list-part" class="card" aria-label="Calls" hidden>
        <p id="count" class="quiet" role="status" tabindex="-1"></p>
        <ul id="list" class="calls"></ul>
        <button type="button" id="more" hidden>More calls</button>
      </section>

      <section id="inspector" class="card" aria-labelledby="call-title" hidden>
        <a id="back" href="#">All calls</a>
        <h2 id="call-title" tabindex="-1"></h2>
        <dl id="facts" class="facts"></dl>
        <div class="columns">
          <div>
            <h3>Conversation</h3>
            <ol id="timeline" class="timeline"></ol>
          </div>
          <div>
            <h3>Recording</h3>
            <p id="recording-note" class="quiet" role="status"></p>
            <div id="player-part" hidden>
              <div id="position" class="position" role="slider" tabindex="0" aria-label="Position in the recording" aria-valuemin="0" aria-valuenow="0"><canvas id="waveform"></canvas></div>
              <p class="quiet lanes"><span class="swatch user"></span>User <span class="swatch agent"></span>Agent</p>
              <audio id="player" controls></audio>
              <a id="download">Save the recording</a>
            </div>
            <div id="median" hidden></div>
            <div id="analysis" hidden></div>
            <h3>Webhook deliveries</h3>
            <p id="deliveries-note" class="quiet" role="status"></p>
            <ul id="deliveries" class="deliveries"></ul>
          </div>
        </div>
      </section>`,
  });
}
