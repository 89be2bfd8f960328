/** Reduces Parley's own kinds to what goes into a report: by the name of each field, and nothing of a field that isn't named here. */
import type { KubeObject } from '../../../kube/index.ts';
import { maskAddress } from './address.ts';
import { maskAll, maskMetadata, maskTree } from './objects.ts';
import type { Redactor } from './redactor.ts';

type Tree = Readonly<Record<string, unknown>>;

export interface ResourceMasking {
  readonly redactor: Redactor;
  /** True to keep prompts and texts of the agent. */
  readonly withPrompts: boolean;
}

const plain = words(
  'revision onMissing for deadline p95VoiceToVoice below',
  'provider model type id name key language documentLanguage method mode strategy profile region source deletionPolicy timeZone',
  'eventTypeID path displayName workspaces events requiredDynamicData choices timeout requestTimeout delay',
  'minSpeechDuration endOfSpeechDelay endAfterSilence maxDuration refreshInterval cache retention temperature volume',
);
const addresses = words('url urls baseURL webhookURL');
const prose = words('systemPrompt welcomeMessage description context message start delayed complete failed examples');
/** Values of headers, of parameters and of bodies may be secrets. */
const values = words('value query body metadata username accountSID from terminationURI');
/** Phone numbers of persons. */
const numbers = words('number to');

export function maskResource(object: KubeObject, masking: ResourceMasking): Tree {
  const { apiVersion, kind, metadata, spec, status } = object as KubeObject & { readonly spec?: Tree; readonly status?: Tree };
  return {
    apiVersion,
    kind,
    metadata: maskMetadata(metadata, masking.redactor),
    spec: spec && members(spec, masking),
    status: status && maskTree(status, masking.redactor),
  };
}

function members(tree: Tree, masking: ResourceMasking): Tree {
  return Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, member(name, value, masking)]));
}

function member(name: string, value: unknown, masking: ResourceMasking): unknown {
  const { redactor, withPrompts } = masking;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return values.has(name) ? maskAll(value, redactor) : value;
  if (values.has(name)) return maskAll(value, redactor);
  // Keeps the shape of the schema of a tool's arguments, without what it says.
  if (name === 'parameters') return schema(value, masking);
  if (Array.isArray(value)) return value.map((item) => member(name, item, masking));
  if (typeof value === 'object') return members(value as Tree, masking);
  if (typeof value !== 'string') return undefined;
  if (addresses.has(name)) return maskAddress(value, redactor);
  if (numbers.has(name)) return value.startsWith('+') ? redactor.text(value) : redactor.secret(value);
  if (prose.has(name)) return withPrompts ? redactor.text(value) : redactor.hidden(value);
  return plain.has(name) ? redactor.text(value) : redactor.unknown(value);
}

function schema(value: unknown, masking: ResourceMasking): unknown {
  const { redactor, withPrompts } = masking;
  if (Array.isArray(value)) return value.map((item) => schema(item, masking));
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? redactor.unknown(value) : value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => {
      if (['type', 'format', 'required', '$ref'].includes(name) && typeof inner !== 'object') return [name, inner];
      if (name === 'required' && Array.isArray(inner)) return [name, inner];
      if (name === 'description' && typeof inner === 'string') return [name, withPrompts ? redactor.text(inner) : redactor.hidden(inner)];
      return [name, schema(inner, masking)];
    }),
  );
}

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}
