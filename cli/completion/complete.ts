/**
 * Suggests what fits behind `parley …` or `kubectl parley …` when the user presses Tab. kubectl runs `kubectl_complete-parley` for it and
 * reads its output as that of its own `__complete`: one candidate a line, with a tab in front of a description, and a directive at the
 * end.
 */
import { existsSync } from 'node:fs';

import type { Command, Option } from 'commander';

import {
  agentKind,
  agentTestKind,
  kinds,
  knowledgeBaseKind,
  webhookSubscriptionKind,
  wellKnown,
  type KindDefinition,
} from '../../crds/index.ts';
import { loadKubeConfig, ResourceClient, type KubeObject, type ResourceDescriptor } from '../../kube/index.ts';
import { FIELD_MANAGER } from '../cluster/connect.ts';
import { withConnection, type ConnectionFlags } from '../kubectl/connection.ts';
import { builtIn } from '../cluster/descriptors.ts';
import type { Io } from '../kubectl/io.ts';
import { present } from '../../platform/present.ts';

/** Cobra's directives: files are no candidates; no blank goes behind a candidate that isn't whole; files are candidates. */
const NO_FILES = 4;
const NO_BLANK = 2;
const FILES = 0;
const FILE_ARGUMENTS: ReadonlySet<string> = new Set(['files', 'folder', 'paths']);

const isOrganization = `${wellKnown.organizationLabel}=true`;

/** Kinds whose objects complete these arguments and values. */
const NAMED_KINDS: Readonly<Record<string, KindDefinition>> = {
  agent: agentKind,
  'knowledge-base': knowledgeBaseKind,
  subscription: webhookSubscriptionKind,
};

/** Longest time that the shell waits for the answer, in milliseconds. */
const TIMEOUT_MS = 3_000;

export interface Completion {
  readonly candidates: readonly string[];
  readonly directive: number;
}

/** Returns the program whose commands stand behind `parley kubectl`. */
export type PluginOf = (io: Io) => Promise<Command>;

/** @param words the words behind the name of the program; the last of them is being written */
export async function complete(program: Command, words: readonly string[], io: Io, plugin?: PluginOf): Promise<Completion> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const command = commandIn(program, before);
  if (command.name() === 'kubectl' && plugin !== undefined)
    return complete(await plugin(io), words.slice(words.indexOf('kubectl') + 1), io);
  const [, name, part] = /^(--[\w-]+)=(.*)$/.exec(typed) ?? [];
  const option = optionOf(command, name ?? before.at(-1));
  if (option !== undefined && (option.required || option.optional)) {
    const values = await valuesOf(command, option, before, io);
    if (values === 'files') return { candidates: [], directive: FILES };
    const found = fitting(values, part ?? typed);
    return name === undefined ? found : { ...found, candidates: found.candidates.map((candidate) => `${name}=${candidate}`) };
  }
  if (typed.startsWith('-')) return fitting(flagsOf(command), typed);
  const below = command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help');
  if (below.length > 0)
    return fitting(
      below.map((each) => `${each.name()}\t${each.description()}`),
      typed,
    );
  return argumentsOf(command, typed, before, io);
}

function commandIn(program: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => command.commands.find((each) => each.name() === word) ?? command, program);
}

export function printCompletion({ candidates, directive }: Completion): string {
  return `${candidates.map((candidate) => `${candidate}\n`).join('')}:${directive}\n`;
}

async function argumentsOf(command: Command, typed: string, before: readonly string[], io: Io): Promise<Completion> {
  const expected = command.registeredArguments.map((each) => each.name());
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  if (choices.length > 0) return fitting(choices, typed);
  const wanted = expected[argumentsIn(command, before).length] ?? expected.at(-1) ?? '';
  if (FILE_ARGUMENTS.has(wanted)) return { candidates: [], directive: FILES };
  if (wanted === 'org') return fitting(await names(builtIn.namespaces, before, io, isOrganization), typed);
  const named = NAMED_KINDS[wanted];
  if (named !== undefined) return fitting(await names(named.descriptor, before, io), typed);
  if (command.name() !== 'explain') return { candidates: [], directive: NO_FILES };
  const [kindText = ''] = typed.split('/');
  const all = kinds as readonly KindDefinition[];
  if (!typed.includes('/')) {
    const found = fitting(
      all.map(({ singular }) => `${singular}/`),
      typed,
    );
    return { ...found, directive: NO_FILES | NO_BLANK };
  }
  const kind = all.find(({ singular, shortNames, descriptor }) => [singular, descriptor.plural, ...shortNames].includes(kindText));
  if (kind === undefined) return { candidates: [], directive: NO_FILES };
  return fitting(
    (await names(kind.descriptor, before, io)).map((each) => `${kindText}/${each}`),
    typed,
  );
}

/** Returns the arguments that stand there already: no flags and none of their values, which another command's flag is taken to have. */
function argumentsIn(command: Command, words: readonly string[]): readonly string[] {
  const own = words.slice(words.lastIndexOf(command.name()) + 1);
  const isValue = (flag: string): boolean => {
    const option = optionOf(command, flag);
    return flag.startsWith('-') && !flag.includes('=') && (option === undefined || option.required || option.optional);
  };
  return own.filter((word, index) => !word.startsWith('-') && !isValue(own[index - 1] ?? ''));
}

/** Returns names of AgentTests: of the files that the command line names, else of the cluster. */
async function testNames(command: Command, before: readonly string[], io: Io): Promise<readonly string[]> {
  const paths = argumentsIn(command, before).filter((path) => existsSync(path));
  if (paths.length === 0) return names(agentTestKind.descriptor, before, io);
  const { readDocuments } = await import('../transfer/files.ts');
  const documents = (await readDocuments(paths).catch(() => [])).map(({ document }) => document as Partial<KubeObject> | null);
  return documents.flatMap((object) => (object?.kind === agentTestKind.descriptor.kind ? [object.metadata?.name ?? ''] : []));
}

async function valuesOf(command: Command, option: Option, before: readonly string[], io: Io): Promise<readonly string[] | 'files'> {
  if (option.argChoices !== undefined) return option.argChoices;
  switch (option.long) {
    case '--kubeconfig':
    case '--file':
    case '--output-dir':
    case '--audio':
    case '--record':
      return 'files';
    case '--context':
      return contexts(before);
    case '--namespace':
    case '--org':
      return names(builtIn.namespaces, before, io, isOrganization);
    case '--system-namespace':
      return names(builtIn.namespaces, before, io);
    case '--agent':
      return names(agentKind.descriptor, before, io);
    case '--test':
      return testNames(command, before, io);
    case '--name':
      return command.parent?.name() === 'events' ? (await import('../../events/catalogue.ts')).eventNames : [];
    case '--provider': {
      const { OFFLINE, PROVIDER_NAMES } = await import('../providers/catalogue.ts');
      return [...PROVIDER_NAMES, OFFLINE];
    }
    case '--permissions':
      return (await import('../../store/permissions.ts')).permissions;
    default:
      return [];
  }
}

function contexts(before: readonly string[]): readonly string[] {
  const { kubeconfig } = flagsIn(before);
  try {
    return loadKubeConfig(kubeconfig === undefined ? {} : { path: kubeconfig })
      .getContexts()
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Empty when they can't be read in time: completion prints no messages. */
async function names(
  descriptor: ResourceDescriptor,
  before: readonly string[],
  io: Io,
  labelSelector?: string,
): Promise<readonly string[]> {
  try {
    return await withConnection({ ...flagsIn(before), requestTimeout: TIMEOUT_MS }, io, async ({ transport, namespace }) => {
      const client = new ResourceClient<KubeObject>({ transport, descriptor, fieldManager: FIELD_MANAGER, metadataOnly: true });
      const { items } = await client.list({
        limit: 500,
        ...(descriptor.namespaced && { namespace }),
        ...(labelSelector !== undefined && { labelSelector }),
      });
      return items.map(({ metadata }) => metadata.name);
    });
  } catch {
    return [];
  }
}

/** Picks the flags that say which cluster and namespace are meant. */
function flagsIn(words: readonly string[]): ConnectionFlags {
  const value = (...flags: readonly string[]): string | undefined => {
    const at = words.findLastIndex((word) => flags.includes(word));
    const joined = words.findLast((word) => flags.some((flag) => word.startsWith(`${flag}=`)));
    return joined === undefined ? (at === -1 ? undefined : words[at + 1]) : joined.slice(joined.indexOf('=') + 1);
  };
  return present({
    kubeconfig: value('--kubeconfig'),
    context: value('--context'),
    namespace: value('-n', '--namespace', '--org'),
    as: value('--as'),
  });
}

function optionOf(command: Command, word: string | undefined): Option | undefined {
  return word === undefined ? undefined : command.options.find(({ long, short }) => word === long || word === short);
}

function flagsOf(command: Command): readonly string[] {
  return command.options.flatMap(({ long, description }) => (long === undefined || long === null ? [] : [`${long}\t${description}`]));
}

function fitting(candidates: readonly string[], typed: string): Completion {
  return { candidates: candidates.filter((candidate) => candidate.startsWith(typed)), directive: NO_FILES };
}
