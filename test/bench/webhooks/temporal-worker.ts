/** The worker of the workflows that the dispatcher is compared with: `node temporal-worker.ts <address> <task queue>`. */
import { createSecretKey, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { NativeConnection, Worker } from '@temporalio/worker';

import { openEgress } from '../../support/open-egress.ts';
import { createAttempt } from '../../../webhooks/attempt/attempt.ts';
import type { DeliverInput } from './temporal-workflow.ts';

const [address = '', taskQueue = ''] = process.argv.slice(2);
const attempt = createAttempt({ egress: openEgress({ allowCidrs: ['127.0.0.0/8'] }) });
const keys = [createSecretKey(randomBytes(32))];

/** Signed and sent as the dispatcher does it. */
export async function postWebhook({ url, id, body }: DeliverInput): Promise<void> {
  const endpoint = { url, timeoutMs: 1_000 };
  const outcome = await attempt({ org: 'bench', endpoint, credentials: { keys, headers: {} }, eventId: id, body: Buffer.from(body) });
  if (!outcome.succeeded) throw new Error(outcome.message);
}

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowsPath: fileURLToPath(new URL('./temporal-workflow.ts', import.meta.url)),
  activities: { postWebhook },
});
process.stdout.write('polling\n');
await worker.run();
