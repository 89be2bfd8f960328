import { Gauge } from 'prom-client';

/** Of what an agent server is busy with. */
export function liveCallsGauge(server: { readonly activeJobs: readonly unknown[] }): Gauge {
  return new Gauge({
    name: 'parley_voice_calls',
    help: 'Calls that this process serves.',
    registers: [],
    collect() {
      this.set(server.activeJobs.length);
    },
  });
}
