import type { Command } from 'commander';

import { shortRevision } from '../../../crds/agent-revision.ts';
import { UserError } from '../../../platform/user-error.ts';
import { wholeNumber } from '../../options.ts';
import type { ApiFlags } from '../calls/api.ts';
import { addConnection, withConnection, withPresetOrganization, type ConnectionFlags } from '../connection.ts';
import type { Io } from '../io.ts';
import { addOutput, formatOf, toYaml, writeAs, type OutputFlags } from '../../output.ts';
import { styleOf } from '../style.ts';
import type { ReleaseSource } from './source.ts';

interface ReleaseFlags extends ConnectionFlags, OutputFlags, ApiFlags {
  readonly org?: string;
  readonly store?: true;
  readonly limit: number;
  readonly to?: string;
  readonly revision?: string;
  readonly reason?: string;
}

const where = (permission: string) => `
Revisions are in Postgres. The command asks the REST API at PARLEY_URL or, without it, through the Kubernetes API server's proxy to the
chart's Service; the key (permission ${permission}) is PARLEY_API_KEY or the key apiKey of the Secret parley-api-key in the namespace.
--store goes to Postgres itself (DATABASE_URL): it works while the API server and the api are away, and needs --org or PARLEY_ORG.
`;

/** Adds the commands for an agent's revisions, for `kubectl parley` and `parley` alike. @param program its name, for the examples */
export function addRelease(parent: Command, io: Io, program: 'parley' | 'kubectl parley'): void {
  const isPlugin = program === 'kubectl parley';
  const preset = (flags: ReleaseFlags): ReleaseFlags =>
    isPlugin || flags.org !== undefined ? flags : withPresetOrganization(flags, io.env);
  const history = add(
    parent,
    isPlugin,
    'history',
    'list the revisions of an agent: which serves, which is tried, what became of the others, and their figures',
  ).option('--limit <count>', 'maximum number of revisions, up to 50', wholeNumber(1, 50), 10);
  addOutput(history, 'as the REST API has them; wide: who changed it, and why')
    .addHelpText(
      'after',
      `${where('agents:read')}
Figures are of the latest 1,000 calls of a revision that are over; of a canary, since it began.

Examples:
  ${program} history agent/receptionist
  ${program} history receptionist -n acme -o wide
`,
    )
    .action(async (agent: string, flags: ReleaseFlags) => {
      const { historyTable } = await import('./print.ts');
      const found = await withSource(preset(flags), io, 'agents:read', (source) => source.history(agentName(agent), flags.limit));
      await writeAs(io, formatOf(flags), found, (wide) => historyTable(found, { wide, now: io.now() }));
    });

  const diff = add(parent, isPlugin, 'diff', 'show what differs between two revisions of an agent')
    .argument('[from]', 'the former revision, or the beginning of its hash (default: what serves)')
    .argument('[to]', 'the other one (default: the canary, else the newest)');
  addOutput(diff, 'both revisions, as the REST API has them')
    .addHelpText(
      'after',
      `${where('agents:read')}
Exit codes: 0 they are alike, 1 they differ, as with kubectl diff.

Examples:
  ${program} diff agent/receptionist
  ${program} diff agent/receptionist 3f9c01ab 77d0e2c4
`,
    )
    .action(async (agent: string, from: string | undefined, to: string | undefined, flags: ReleaseFlags) => {
      const { unifiedDiff } = await import('./print.ts');
      const [before, after] = await withSource(preset(flags), io, 'agents:read', (source) => pairOf(source, agentName(agent), from, to));
      const texts = await Promise.all([before, after].map(({ configuration }) => toYaml(configuration)));
      const text = unifiedDiff(
        { name: shortRevision(before.revision), text: texts[0] ?? '' },
        { name: shortRevision(after.revision), text: texts[1] ?? '' },
        styleOf(io),
      );
      await writeAs(io, formatOf(flags), { from: before, to: after }, () => text);
      io.exit(text === '' ? 0 : 1);
    });

  const rollback = add(
    parent,
    isPlugin,
    'rollback',
    'end the canary of an agent or, without one, have new calls start with the revision that served before',
  )
    .option('--to <revision>', 'one that has served, or the beginning of its hash')
    .option('--reason <text>', 'for the history, the condition and the event');
  addOutput(rollback, 'what serves now, as the REST API has it')
    .addHelpText(
      'after',
      `${where('agents:write')}
New calls follow at once; calls that have begun keep their revision. The Agent resource stays as it is, so that GitOps has nothing to undo:
what was rolled back is not served again until it is promoted, whatever becomes of the agent, its tools and its name.

Examples:
  ${program} rollback agent/receptionist --reason "answers in the wrong language"
  ${program} rollback agent/receptionist --to 3f9c01ab
  parley rollback receptionist --store --org acme
`,
    )
    .action((agent: string, flags: ReleaseFlags) => changeRelease('rollback', agent, flags.to, preset(flags), io));

  const promote = add(
    parent,
    isPlugin,
    'promote',
    'have all new calls of an agent start with its canary or, without one, with what was rolled back last',
  )
    .option('--revision <revision>', 'the one that was rolled back, or the beginning of its hash (default: the last)')
    .option('--reason <text>', 'for the history');
  addOutput(promote, 'what serves now, as the REST API has it')
    .addHelpText(
      'after',
      `${where('agents:write')}
Figures and required AgentTests don't hold it back: the condition Tested says who promoted it. Nothing else that was rolled back is forgotten.

Examples:
  ${program} promote agent/receptionist
  ${program} promote agent/receptionist --revision 3f9c01ab
  ${program} promote agent/receptionist --reason "the errors came from the carrier"
`,
    )
    .action((agent: string, flags: ReleaseFlags) => changeRelease('promote', agent, flags.revision, preset(flags), io));
}

function add(parent: Command, isPlugin: boolean, name: string, description: string): Command {
  const command = parent.command(name).description(description).argument('<agent>', 'name of the agent, also as agent/<name>');
  return addConnection(command, { presetOrganization: !isPlugin })
    .option('--org <name>', 'the organisation, as --namespace')
    .option('--store', 'use Postgres itself instead of the REST API (DATABASE_URL)')
    .option('--api-key-secret <name[/key]>', 'Secret in the namespace that holds the API key (default: parley-api-key/apiKey)')
    .option('--api-url <url>', 'address of the REST API (default: PARLEY_URL, else through the API server)')
    .option('--api-service <namespace/name>', 'Service of the api (default: found by its labels)');
}

async function changeRelease(change: 'rollback' | 'promote', agent: string, revision: string | undefined, flags: ReleaseFlags, io: Io) {
  const { releaseLine } = await import('./print.ts');
  const name = agentName(agent);
  const release = await withSource(flags, io, 'agents:write', (source) => source[change](name, { revision, reason: flags.reason }));
  await writeAs(io, formatOf(flags), release, () => releaseLine(name, release));
}

/** @throws UserError for an object of another kind */
function agentName(text: string): string {
  const name = text.replace(/^agents?(\.parley\.dev)?\//i, '');
  if (name !== '' && !name.includes('/')) return name;
  throw new UserError(`"${text}" names no agent`, { cure: 'write agent/<name>, as in agent/receptionist' });
}

async function withSource<T>(flags: ReleaseFlags, io: Io, permission: string, use: (source: ReleaseSource) => Promise<T>): Promise<T> {
  const { restSource, storeSource } = await import('./source.ts');
  const namespace = flags.org ?? flags.namespace;
  if (flags.store === true) {
    const org = namespace ?? (io.env['PARLEY_ORG'] || undefined);
    if (org === undefined) throw new UserError('--store needs to know the organisation', { cure: 'name it with --org, or set PARLEY_ORG' });
    const { withStore } = await import('../../database.ts');
    return withStore((store) => use(storeSource(store, org, io.now())));
  }
  const { openApi } = await import('../calls/api.ts');
  return withConnection({ ...flags, ...(namespace !== undefined && { namespace }) }, io, async (connection) =>
    use(restSource(await openApi(connection, flags, io, permission))),
  );
}

async function pairOf(source: ReleaseSource, agent: string, from: string | undefined, to: string | undefined) {
  if (from !== undefined && to !== undefined) return [await source.revision(agent, from), await source.revision(agent, to)] as const;
  const { release, revisions } = await source.history(agent, 50);
  const before = from ?? release?.serving_revision;
  const after = to ?? release?.canary?.revision ?? revisions[0]?.revision;
  if (before === undefined || after === undefined)
    throw new UserError(`agent ${agent} has not served yet: there is nothing to compare`, { cure: 'kubectl parley explain agent/<name>' });
  return [await source.revision(agent, before), await source.revision(agent, after)] as const;
}
