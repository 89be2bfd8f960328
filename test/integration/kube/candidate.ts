/** Runs for leader until it is killed or stopped: `node candidate.ts <kubeconfig> <namespace> <identity>`. Says `leading` when it leads. */
import { createTransport, LeaderElector, leases, loadKubeConfig, ResourceClient, type Lease } from '../../../kube/index.ts';

const [path = '', namespace = '', identity = ''] = process.argv.slice(2);
const transport = createTransport({ kubeConfig: loadKubeConfig({ path }) });
const client = new ResourceClient<Lease>({ transport, descriptor: leases, fieldManager: identity });
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
// The elector's timers don't keep a process alive; a role has servers and watches that do.
const alive = setInterval(() => undefined, 60_000);
await new LeaderElector({ client, namespace, name: 'election', identity }).run({
  signal: stop.signal,
  onStarted: async (signal) => {
    process.stdout.write('leading\n');
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    process.stdout.write('stopped\n');
  },
});
clearInterval(alive);
await transport.close();
