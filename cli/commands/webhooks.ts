import { InvalidArgumentError, Option, type Command } from 'commander';

import { jsonOption, outputOption, printData, wantsData, type OutputFlags } from '../output.ts';

import { examples } from '../grammar.ts';
import { parseDuration, portNumber, wholeNumber } from '../options.ts';

const ENVIRONMENT = '(PARLEY_URL, PARLEY_API_KEY)';

export function registerWebhooks(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('list webhook subscriptions and their deliveries, send deliveries again, run a test receiver');
  addList(webhooks);
  addDeliveries(webhooks);
  addAttempts(webhooks);
  addRedeliver(webhooks);
  addRecover(webhooks);
  addTest(webhooks);
  addReceive(webhooks);
}

function addList(webhooks: Command): void {
  webhooks
    .command('list')
    .description(`list the subscriptions of the organisation ${ENVIRONMENT}`)
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('parley webhooks list', 'parley webhooks list -o json'))
    .action(async (options: OutputFlags) => {
      const { webhooks: client, tables } = await tools();
      const all = await client.listSubscriptions();
      if (wantsData(options)) await printData(options, all);
      else process.stdout.write(tables.subscriptionTable(all));
    });
}

function addDeliveries(webhooks: Command): void {
  webhooks
    .command('deliveries')
    .description(`list the deliveries of a subscription, newest first ${ENVIRONMENT}`)
    .argument('<subscription>', 'id of the subscription: the name of the resource')
    .addOption(
      new Option('--status <status>', 'only deliveries of this status').choices([
        'pending',
        'retrying',
        'paused',
        'succeeded',
        'failed',
        'skipped',
      ]),
    )
    .option('--limit <number>', 'maximum number', wholeNumber(1, 10_000), 20)
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('parley webhooks deliveries call-log', 'parley webhooks deliveries call-log --status failed --limit 100'),
    )
    .action(async (subscription: string, options: { readonly status?: string; readonly limit: number } & OutputFlags) => {
      const { webhooks: client, tables } = await tools();
      const found = await client.listDeliveries({ subscription, status: options.status, limit: options.limit });
      if (wantsData(options)) await printData(options, found);
      else process.stdout.write(tables.deliveryTable(found, Date.now()));
    });
}

function addAttempts(webhooks: Command): void {
  webhooks
    .command('attempts')
    .description(`list the attempts of a delivery, with the reason of each failure ${ENVIRONMENT}`)
    .argument('<delivery>', 'id of the delivery: dlv_…')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('parley webhooks attempts dlv_019aa5b2-…'))
    .action(async (delivery: string, options: OutputFlags) => {
      const { webhooks: client, tables } = await tools();
      const found = await client.listAttempts(delivery);
      if (wantsData(options)) await printData(options, found);
      else process.stdout.write(tables.attemptTable(found));
    });
}

function addRedeliver(webhooks: Command): void {
  webhooks
    .command('redeliver')
    .description(`send deliveries again, with the same body and the same webhook-id ${ENVIRONMENT}`)
    .argument('<deliveries...>', 'ids of the deliveries: dlv_…')
    .addOption(outputOption('the deliveries as the REST API has them'))
    .addHelpText('after', examples('parley webhooks redeliver dlv_019aa5b2-…'))
    .action(async (ids: readonly string[], options: OutputFlags) => {
      const { webhooks: client } = await tools();
      const sent: unknown[] = [];
      try {
        for (const id of ids) {
          const delivery = await client.redeliver(id);
          sent.push(delivery);
          if (!wantsData(options)) process.stdout.write(`${id} ${delivery.status}, to ${delivery.subscription_id}\n`);
        }
      } finally {
        // The result names also the deliveries before one that can't be sent.
        if (wantsData(options)) await printData(options, sent);
      }
    });
}

function addRecover(webhooks: Command): void {
  webhooks
    .command('recover')
    .description(`send the deliveries of a period that failed or were skipped again, oldest first ${ENVIRONMENT}`)
    .argument('<subscription>', 'id of the subscription: the name of the resource')
    .requiredOption('--since <time>', 'start of the period: a time, or how long ago (90s, 15m, 2h, 7d)', instant)
    .option('--until <time>', 'end of the period; now by default', instant)
    .addOption(new Option('--status <status>', 'only deliveries of this status').choices(['failed', 'skipped']))
    .addOption(outputOption('the answer of the REST API'))
    .addHelpText(
      'after',
      examples(
        'parley webhooks recover call-log --since 2h',
        'parley webhooks recover call-log --since 2026-01-31T08:00:00Z --until 2026-01-31T09:00:00Z --status failed',
      ),
    )
    .action(
      async (
        subscription: string,
        options: { readonly since: Date; readonly until?: Date; readonly status?: 'failed' | 'skipped' } & OutputFlags,
      ) => {
        const { webhooks: client } = await tools();
        const recovered = await client.recover(subscription, options);
        if (wantsData(options)) await printData(options, { recovered });
        else process.stdout.write(`${recovered} ${recovered === 1 ? 'delivery is' : 'deliveries are'} sent again\n`);
      },
    );
}

function addTest(webhooks: Command): void {
  webhooks
    .command('test')
    .description(`send a Webhook.Test to a subscription and print the result ${ENVIRONMENT}`)
    .argument('<subscription>', 'id of the subscription: the name of the resource')
    .option('--no-wait', 'do not wait for the first attempt')
    .addOption(outputOption('the ids, the delivery and its attempts'))
    .addHelpText('after', examples('parley webhooks test call-log'))
    .action(async (subscription: string, options: { readonly wait: boolean } & OutputFlags) => {
      const { webhooks: client, tables, UserError } = await tools();
      const sent = await client.sendTest(subscription);
      if (!wantsData(options)) process.stdout.write(`${sent.event_id} as ${sent.delivery_id}\n`);
      if (!options.wait) {
        if (wantsData(options)) await printData(options, sent);
        return;
      }
      const { delivery, attempts } = await client.firstAttempt({
        subscription,
        delivery: sent.delivery_id,
        withinMs: FIRST_ATTEMPT_MS,
      });
      if (wantsData(options)) await printData(options, { ...sent, delivery, attempts });
      else process.stdout.write(tables.attemptTable(attempts));
      if (delivery.status !== 'succeeded') {
        throw new UserError(`the delivery is ${delivery.status}${delivery.reason === null ? '' : `: ${delivery.reason}`}`, {
          cure: `\`parley webhooks attempts ${sent.delivery_id}\` shows further attempts`,
        });
      }
    });
}

function addReceive(webhooks: Command): void {
  webhooks
    .command('receive')
    .description(
      'run a test receiver on this machine, which verifies deliveries with the keys in the cluster and prints a line for each (KUBECONFIG)',
    )
    .option('--port <port>', 'port on the loopback address; a free one by default', portNumber, 0)
    .option('--host <name>', 'accept requests for this host name, too; requests for names other than those of this machine are refused')
    .addOption(new Option('-o, --output <format>', 'json: each delivery as a line of JSON').choices(['json']))
    .option('--json', 'the same as -o json')
    .addHelpText(
      'after',
      `\nEvery path accepts deliveries; …/status/503 answers with that status, to test retries. The address printed at the start shows the latest deliveries.\n${examples('parley webhooks receive --port 8099')}`,
    )
    .action(async (options: { readonly port: number; readonly host?: string; readonly json?: true; readonly output?: 'json' }) => {
      const { serveReceiver } = await import('../webhooks/serve-receiver.ts');
      const token = process.env['PARLEY_RECEIVER_TOKEN'] || undefined;
      await serveReceiver({ port: options.port, json: options.json === true || options.output === 'json', host: options.host, token });
    });
}

/** Longest wait for the first attempt, in milliseconds: no attempt may take longer. */
const FIRST_ATTEMPT_MS = 40_000;

async function tools() {
  const [{ restClientFromEnvironment }, { WebhookClient }, tables, { UserError }] = await Promise.all([
    import('../../api/client/rest-client.ts'),
    import('../webhooks/deliveries.ts'),
    import('../webhooks/tables.ts'),
    import('../../platform/user-error.ts'),
  ]);
  return { webhooks: new WebhookClient(restClientFromEnvironment(process.env)), tables, UserError };
}

function instant(value: string): Date {
  if (/^\d{1,6}[smhd]$/.test(value)) return new Date(Date.now() - parseDuration(value));
  const date = new Date(value);
  if (/^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('use a time like 2026-01-31T12:00:00Z, or how long ago like 90s, 15m, 2h or 7d.');
}
