import { Counter, Gauge } from 'prom-client';

export const liveCallsGauge = (live: () => number): Gauge => gauge('parley_voice_calls', 'Calls that this process serves.', live);

export const freePlacesGauge = (free: () => number): Gauge =>
  gauge('parley_voice_free_places', 'Calls that this process can take now and welcome in time.', free);

export const waitingRecordingsGauge = (recordings: { readonly waiting: number }): Gauge =>
  gauge(
    'parley_voice_recordings_waiting',
    'Recordings that jobs left behind and that are not in the storage yet.',
    () => recordings.waiting,
  );

export const takeoversCounter = (): Counter<'part'> =>
  new Counter({
    name: 'parley_voice_provider_takeovers_total',
    help: 'Answers that a fallback gave, because a provider before it failed or was late.',
    labelNames: ['part'],
    registers: [],
  });

/** Makes a gauge that is read at each scrape. */
function gauge(name: string, help: string, read: () => number): Gauge {
  return new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(read());
    },
  });
}
