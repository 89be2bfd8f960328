import { Gauge } from 'prom-client';

/** Of what an agent server is busy with. */
export function liveCallsGauge(live: () => number): Gauge {
  return new Gauge({
    name: 'parley_voice_calls',
    help: 'Calls that this process serves.',
    registers: [],
    collect() {
      this.set(live());
    },
  });
}

/** Of what waits for the storage. */
export function waitingRecordingsGauge(recordings: { readonly waiting: number }): Gauge {
  return new Gauge({
    name: 'parley_voice_recordings_waiting',
    help: 'Recordings that jobs left behind and that are not in the storage yet.',
    registers: [],
    collect() {
      this.set(recordings.waiting);
    },
  });
}
