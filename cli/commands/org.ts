import { InvalidArgumentError, type Command } from 'commander';

import { UserError } from '../../platform/user-error.ts';
import { wholeNumber } from '../options.ts';

interface DeleteFlags {
  readonly confirm?: string;
  readonly dryRun?: true;
  readonly force?: true;
  readonly deleteNamespace?: true;
}

/** In days. Commander takes null for no value. */
type Period = number | 'forever';

interface RetentionFlags {
  readonly record?: boolean;
  readonly recordings?: Period;
  readonly calls?: Period;
  readonly json?: true;
}

export function registerOrg(program: Command): void {
  const org = program.command('org').description('create, list, limit and delete organisations, and set what is kept of their calls');

  org
    .command('create')
    .description('create organisations: for each a namespace with the label, and a row; safe to repeat')
    .argument('<names...>', 'names of the namespaces, which are the ids of the organisations')
    .option('--display-name <text>', 'display name of a single organisation, at most 200 characters')
    .option('--no-namespace', 'create only the row: for namespaces that another tool creates and labels')
    .option('--json', 'print JSON')
    .action(async (names: string[], options: { readonly displayName?: string; readonly namespace: boolean; readonly json?: true }) => {
      const { displayName } = options;
      if (displayName !== undefined && names.length > 1) {
        throw new UserError('--display-name is for one organisation', { cure: 'create the others with a command each' });
      }
      const [{ withStore }, { withNamespaces }, { printJson }] = await Promise.all([
        import('../database.ts'),
        import('../organization-namespaces.ts'),
        import('../table.ts'),
      ]);
      await withStore(async (store) => {
        // Asks Postgres first: an invalid name, missing migrations or no answer leave no namespace behind.
        for (const name of names) await store.organizations.check({ name, displayName });
        if (options.namespace) {
          await withNamespaces(async (namespaces) => {
            for (const name of names) await namespaces.ensure(name);
          });
        }
        const made = [];
        for (const name of names) {
          const row = await store.organizations.create({ name, displayName });
          made.push({ name: row.name, display_name: row.displayName, created_at: row.createdAt.toISOString() });
          if (options.json !== true)
            process.stdout.write(
              `organisation ${name} exists\n  → create an API key for it: parley keys create --org ${name} --name first\n`,
            );
        }
        if (options.json === true) printJson(made.length === 1 ? made[0] : made);
      });
    });

  org
    .command('delete')
    .description('delete an organisation with all its resources, keys, calls, recordings, documents and events; safe to repeat')
    .argument('<name>', 'the organisation')
    .option('--confirm <name>', 'confirm with the name of the organisation instead of typing it')
    .option('--dry-run', 'only show what would be deleted')
    .option('--force', 'delete even while calls are live: their records are deleted before the conversations end')
    .option('--delete-namespace', 'delete the namespace with everything else in it; by default it only loses its label')
    .action(async (name: string, options: DeleteFlags) => {
      const { runDelete } = await import('../organization/run-delete.ts');
      await runDelete(name, options);
    });

  org
    .command('limit')
    .description('limit the live calls of an organisation from now on; live calls continue')
    .argument('<name>', 'the organisation')
    .requiredOption('--live-calls <number>', '0 to 100000; 10 by default', wholeNumber(0, 100_000))
    .option('--json', 'print JSON')
    .action(async (name: string, options: { readonly liveCalls: number; readonly json?: true }) => {
      const [{ withStore }, { printJson }] = await Promise.all([import('../database.ts'), import('../table.ts')]);
      await withStore(async (store) => {
        const { liveCallLimit } = await store.organizations.limitLiveCalls(name, options.liveCalls);
        if (options.json === true) printJson({ name, live_call_limit: liveCallLimit });
        else process.stdout.write(`organisation ${name} may have ${liveCallLimit} live calls\n`);
      });
    });

  org
    .command('retention')
    .description('show what is kept of the calls of an organisation, or change it')
    .argument('<name>', 'the organisation')
    .option('--record <on|off>', 'off: no call that begins from now on is recorded, whatever its agent says', onOrOff)
    .option(
      '--recordings <days>',
      'days after the end of a call until its recording is deleted, or forever; agents may have their own',
      daysOrForever,
    )
    .option('--calls <days>', 'days after the end of a call until all of it is deleted, or forever', daysOrForever)
    .option('--json', 'print JSON')
    .action(async (name: string, { record, recordings, calls, json }: RetentionFlags) => {
      const [{ withStore }, { printJson }] = await Promise.all([import('../database.ts'), import('../table.ts')]);
      const change = {
        ...(record !== undefined && { recordingEnabled: record }),
        ...(recordings !== undefined && { recordingRetentionDays: daysOf(recordings) }),
        ...(calls !== undefined && { callRetentionDays: daysOf(calls) }),
      };
      await withStore(async (store) => {
        const kept = await store.organizations.setCallRetention(name, change);
        if (json === true)
          printJson({
            name,
            recording_enabled: kept.recordingEnabled,
            recording_retention_days: kept.recordingRetentionDays,
            call_retention_days: kept.callRetentionDays,
          });
        else
          process.stdout.write(
            `organisation ${name}: calls are ${kept.recordingEnabled ? '' : 'not '}recorded; recordings are kept ${periodOf(kept.recordingRetentionDays)}, calls ${periodOf(kept.callRetentionDays)}\n`,
          );
      });
    });

  org
    .command('list')
    .description('list the organisations and whether each has its namespace')
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: true }) => {
      const [{ withStore }, { withNamespaces }, { printJson, table }] = await Promise.all([
        import('../database.ts'),
        import('../organization-namespaces.ts'),
        import('../table.ts'),
      ]);
      const rows = await withStore(async ({ organizations }) => {
        const found = [...(await organizations.list())];
        for (let size = found.length; size === 1_000;) {
          const more = await organizations.list({ after: found.at(-1)?.name });
          found.push(...more);
          size = more.length;
        }
        return found;
      });
      const labelled = new Set(await withNamespaces((namespaces) => namespaces.list()));
      const known = new Map(rows.map((row) => [row.name, row]));
      const all = [...new Set([...known.keys(), ...labelled])].sort().map((name) => ({
        name,
        display_name: known.get(name)?.displayName ?? '',
        namespace: labelled.has(name),
        created_at: known.get(name)?.createdAt.toISOString() ?? null,
      }));
      if (options.json === true) {
        printJson(all);
        return;
      }
      process.stdout.write(
        table(
          ['NAME', 'DISPLAY NAME', 'NAMESPACE', 'CREATED'],
          all.map((row) => [row.name, row.display_name, row.namespace ? 'yes' : 'no', row.created_at ?? '-']),
        ),
      );
    });
}

function onOrOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('use on or off.');
  return text === 'on';
}

function daysOrForever(text: string): Period {
  return text === 'forever' ? text : wholeNumber(1, 36_500)(text);
}

function daysOf(period: Period): number | null {
  return period === 'forever' ? null : period;
}

function periodOf(days: number | null): string {
  return days === null ? 'for ever' : `for ${days} days`;
}
