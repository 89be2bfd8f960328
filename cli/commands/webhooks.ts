import { InvalidArgumentError, Option, type Command } from 'commander';

import { parseDuration, portNumber, wholeNumber } from '../options.ts';

const environment = '(PARLEY_URL, PARLEY_API_KEY)';

export function registerWebhooks(program: Command): void {
  const webhooks = program.command('webhooks').description('webhook subscriptions: what was sent to them, and sending it again');

  webhooks
    .command('list')
    .description(`list the subscriptions of the organisation ${environment}`)
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: true }) => {
      const { webhooks: client, tables, printJson } = await tools();
      const all = await client.listSubscriptions();
      if (options.json === true) printJson(all);
      else process.stdout.write(tables.subscriptionTable(all));
    });

  webhooks
    .command('deliveries')
    .description(`list the deliveries of a subscription, newest first ${environment}`)
    .argument('<subscription>', 'its id: the name of the resource')
    .addOption(
      new Option('--status <status>', 'only those of this status').choices([
        'pending',
        'retrying',
        'paused',
        'succeeded',
        'failed',
        'skipped',
      ]),
    )
    .option('--limit <number>', 'how many at most', wholeNumber(1, 10_000), 20)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('parley webhooks deliveries call-log', 'parley webhooks deliveries call-log --status failed --limit 100'),
    )
    .action(async (subscription: string, options: { readonly status?: string; readonly limit: number; readonly json?: true }) => {
      const { webhooks: client, tables, printJson } = await tools();
      const found = await client.listDeliveries({ subscription, status: options.status, limit: options.limit });
      if (options.json === true) printJson(found);
      else process.stdout.write(tables.deliveryTable(found, Date.now()));
    });

  webhooks
    .command('attempts')
    .description(`list the attempts of a delivery, with the reason of each failure ${environment}`)
    .argument('<delivery>', 'its id: dlv_…')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('parley webhooks attempts dlv_019aa5b2-…'))
    .action(async (delivery: string, options: { readonly json?: true }) => {
      const { webhooks: client, tables, printJson } = await tools();
      const found = await client.listAttempts(delivery);
      if (options.json === true) printJson(found);
      else process.stdout.write(tables.attemptTable(found));
    });

  webhooks
    .command('redeliver')
    .description(`send deliveries again: the same body with the same webhook-id ${environment}`)
    .argument('<deliveries...>', 'their ids: dlv_…')
    .addHelpText('after', examples('parley webhooks redeliver dlv_019aa5b2-…'))
    .action(async (ids: readonly string[]) => {
      const { webhooks: client } = await tools();
      for (const id of ids) {
        const { status, subscription_id: subscription } = await client.redeliver(id);
        process.stdout.write(`${id} ${status}, to ${subscription}\n`);
      }
    });

  webhooks
    .command('recover')
    .description(`send again what failed or was skipped in a time, oldest first ${environment}`)
    .argument('<subscription>', 'its id: the name of the resource')
    .requiredOption('--since <time>', 'events from then on: a time, or so long ago (90s, 15m, 2h, 7d)', instant)
    .option('--until <time>', 'events before then; now by default', instant)
    .addOption(new Option('--status <status>', 'only those of this status').choices(['failed', 'skipped']))
    .addHelpText(
      'after',
      examples(
        'parley webhooks recover call-log --since 2h',
        'parley webhooks recover call-log --since 2026-01-31T08:00:00Z --until 2026-01-31T09:00:00Z --status failed',
      ),
    )
    .action(
      async (subscription: string, options: { readonly since: Date; readonly until?: Date; readonly status?: 'failed' | 'skipped' }) => {
        const { webhooks: client } = await tools();
        const recovered = await client.recover(subscription, options);
        process.stdout.write(`${recovered} ${recovered === 1 ? 'delivery is' : 'deliveries are'} sent again\n`);
      },
    );

  webhooks
    .command('test')
    .description(`send a Webhook.Test to a subscription and tell what became of it ${environment}`)
    .argument('<subscription>', 'its id: the name of the resource')
    .option('--no-wait', 'only send it')
    .addHelpText('after', examples('parley webhooks test call-log'))
    .action(async (subscription: string, options: { readonly wait: boolean }) => {
      const { webhooks: client, tables, UserError } = await tools();
      const sent = await client.sendTest(subscription);
      process.stdout.write(`${sent.event_id} as ${sent.delivery_id}\n`);
      if (!options.wait) return;
      const { delivery, attempts } = await client.firstAttempt({
        subscription,
        delivery: sent.delivery_id,
        withinMs: FIRST_ATTEMPT_MS,
      });
      process.stdout.write(tables.attemptTable(attempts));
      if (delivery.status !== 'succeeded') {
        throw new UserError(`the delivery is ${delivery.status}${delivery.reason === null ? '' : `: ${delivery.reason}`}`, {
          cure: `\`parley webhooks attempts ${sent.delivery_id}\` shows how it goes on`,
        });
      }
    });

  webhooks
    .command('receive')
    .description('run a receiver on this machine: verifies deliveries with the keys in the cluster and prints a line for each (KUBECONFIG)')
    .option('--port <port>', 'port on the loopback address; a free one by default', portNumber, 0)
    .option('--host <name>', 'a name that leads to this receiver, next to those of this machine; requests for others are refused')
    .option('--json', 'print each delivery as a line of JSON')
    .addHelpText(
      'after',
      `\nAny path takes deliveries; …/status/503 answers with that status, to see what retries do. The address that is printed at the start shows the latest ones.\n${examples('parley webhooks receive --port 8099')}`,
    )
    .action(async (options: { readonly port: number; readonly host?: string; readonly json?: true }) => {
      const { serveReceiver } = await import('../webhooks/serve-receiver.ts');
      const token = process.env['PARLEY_RECEIVER_TOKEN'] || undefined;
      await serveReceiver({ port: options.port, json: options.json === true, host: options.host, token });
    });
}

/** Longer than any attempt may take, in milliseconds. */
const FIRST_ATTEMPT_MS = 40_000;

async function tools() {
  const [{ restClientFromEnvironment }, { WebhookClient }, tables, { printJson }, { UserError }] = await Promise.all([
    import('../../api/client/rest-client.ts'),
    import('../webhooks/deliveries.ts'),
    import('../webhooks/tables.ts'),
    import('../table.ts'),
    import('../../platform/user-error.ts'),
  ]);
  return { webhooks: new WebhookClient(restClientFromEnvironment(process.env)), tables, printJson, UserError };
}

const examples = (...commands: readonly string[]): string => `\nExamples:\n${commands.map((command) => `  ${command}\n`).join('')}`;

function instant(value: string): Date {
  if (/^\d{1,6}[smhd]$/.test(value)) return new Date(Date.now() - parseDuration(value));
  const date = new Date(value);
  if (/^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('a time like 2026-01-31T12:00:00Z, or so long ago like 90s, 15m, 2h or 7d, is needed.');
}
