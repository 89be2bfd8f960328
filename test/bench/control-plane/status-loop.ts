/**
 * Runs the loop of (d) on Parley's own library: watches Agents and writes one condition into the status of each that changed.
 * Its twin is `test/bench/go-baseline/main.go`; both do the same in the same order, or the comparison means nothing.
 * Arguments: kubeconfig, namespace, condition type (also the field manager), objects handled at once.
 */
import { createInformer, createTransport, keyOf, loadKubeConfig, ResourceClient, WorkQueue } from '../../../kube/index.ts';
import { agentDescriptor, agentWithCondition, conditionOf, type BenchAgent } from './agents.ts';

const [kubeconfig = '', namespace = '', condition = '', concurrency = '4'] = process.argv.slice(2);

const transport = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig }) });
const client = new ResourceClient<BenchAgent>({ transport, descriptor: agentDescriptor, fieldManager: condition });
const informer = createInformer<BenchAgent>({ client, namespace });
const queue = new WorkQueue<string>({ name: 'agent' });

async function reconcile(key: string): Promise<void> {
  const agent = informer.cache.get(key);
  if (agent === undefined) return;
  const { name, uid, generation = 0 } = agent.metadata;
  const known = conditionOf(agent, condition);
  if (known?.observedGeneration === generation) return;
  const lastTransitionTime = known?.status === 'True' ? known.lastTransitionTime : `${new Date().toISOString().slice(0, 19)}Z`;
  await client.applyStatus(
    agentWithCondition({
      namespace,
      name,
      ...(uid === undefined ? {} : { uid }),
      type: condition,
      observedGeneration: generation,
      lastTransitionTime,
    }),
  );
}

informer.onChange(({ object, initial }) => queue.add(keyOf(object), { priority: initial ? 'initial' : 'user' }));
informer.start();
await informer.synced();
const work = queue.run({
  concurrency: Number(concurrency),
  handle: reconcile,
  onError: (error, key) => process.stderr.write(`status-loop: ${key}: ${String(error)}\n`),
});
process.stdout.write('ready\n');

process.once('SIGTERM', () => {
  void (async () => {
    await informer.stop();
    queue.shutDown();
    await work;
    await transport.close();
  })();
});
