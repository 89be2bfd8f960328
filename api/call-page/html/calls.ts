import { callStatuses } from '../../../store/index.ts';
import { STATUS_TEXTS } from '../session/outcome.ts';
import { recordingHtml } from './recording.ts';
import { pageHtml } from './shell.ts';

/** Returns the page `/calls`. @param script name of its script's file */
export function callsPage(script: string): string {
  const states = callStatuses.map((status) => `<option value="${status}">${STATUS_TEXTS[status]}</option>`).join('');
  return pageHtml({
    path: '/calls',
    title: 'Calls',
    script,
    keyNote:
      'It needs the permission <code>calls:read</code>; with <code>recordings:read</code> and <code>webhooks:read</code> it shows recordings and deliveries, too; with <code>calls:control</code> and <code>calls:listen</code> it steers calls that go on, and hears them.',
    main: `
      <form id="filter" class="filter" aria-label="Filter" hidden>
        <button type="button" id="filter-toggle" aria-expanded="false" aria-controls="filter-fields">Filter</button>
        <div id="filter-fields" class="fields">
          <div><label for="agent">Agent</label><select id="agent"></select></div>
          <div><label for="status">State</label><select id="status"><option value="">All calls</option>${states}</select></div>
          <div><label for="from">From</label><input id="from" type="date"></div>
          <div><label for="to">To</label><input id="to" type="date"></div>
        </div>
      </form>

      <div class="desk">
        <section id="list-part" class="card" aria-label="Calls" hidden>
          <p class="row quiet"><span id="count" role="status" tabindex="-1"></span><span id="zone"></span></p>
          <ul id="list" class="calls"></ul>
          <button type="button" id="more" hidden>More calls</button>
        </section>

        <section id="inspector" class="card" aria-labelledby="call-title" hidden>
          <a id="back" href="#">All calls</a>
          <h2 id="call-title" tabindex="-1"></h2>
          <p id="call-line" class="quiet"></p>
          <div id="live-part" class="live" hidden>
            <p id="live-state" class="state" role="status"></p>
            <form id="live-form" hidden>
              <label for="live-words">Words for the agent</label>
              <input id="live-words" autocomplete="off" maxlength="2000">
              <div class="buttons">
                <button type="submit" id="say" class="primary">Say</button>
                <button type="button" id="instruct">Tell the model only</button>
              </div>
            </form>
            <div class="buttons">
              <button type="button" id="mute-agent" aria-pressed="false" hidden>Mute agent</button>
              <button type="button" id="listen" aria-pressed="false" hidden>Listen</button>
              <button type="button" id="take-over" aria-pressed="false" hidden>Speak with the user</button>
            </div>
            <p id="live-note" class="quiet" role="status"></p>
            <div id="live-voices" hidden></div>
          </div>
          <div class="columns">
            <div>
              <h3>Conversation</h3>
              <ol id="timeline" class="timeline"></ol>
            </div>
            <div>
              <dl id="facts" class="facts"></dl>
              ${recordingHtml('User')}
              <div id="median" hidden></div>
              <div id="analysis" hidden></div>
              <h3>Webhook deliveries</h3>
              <p id="deliveries-note" class="quiet" role="status"></p>
              <ul id="deliveries" class="deliveries"></ul>
            </div>
          </div>
        </section>
      </div>`,
  });
}
