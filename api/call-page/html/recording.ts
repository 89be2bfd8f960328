/** Lays out the recording of a call for both pages: one player with the waveform of both sides. */

/** @param user the page's name for the user */
export function recordingHtml(user: string): string {
  return `<h3>Recording</h3>
            <p id="recording-note" class="quiet" role="status"></p>
            <div id="player-part" hidden>
              <div id="position" class="position" role="slider" tabindex="0" aria-label="Position in the recording" aria-valuemin="0" aria-valuenow="0"><canvas id="waveform"></canvas></div>
              <p class="quiet lanes"><span class="swatch user"></span>${user} <span class="swatch agent"></span>Agent</p>
              <div class="playing">
                <button type="button" id="play">Play</button>
                <span id="played" class="time"></span>
                <a id="download" aria-label="Save the recording">Save</a>
              </div>
              <audio id="player"></audio>
            </div>`;
}
