/** Says why a document that is meant for Parley would never be read: the API server refuses it, and a test in it would never run. */
import { API_VERSION, GROUP, kinds } from '../../crds/index.ts';
import { isObject } from '../../platform/json.ts';
import { similarName } from '../../platform/similar-name.ts';

const NAMES: readonly string[] = kinds.map(({ descriptor }) => descriptor.kind);

/** @returns the field at fault with the right value; undefined for a document that is right, and for objects and files of others */
export function misnamedAs(document: unknown): { readonly path: string; readonly message: string } | undefined {
  if (!isObject(document)) return undefined;
  const { apiVersion, kind, metadata, spec } = document;
  const meant = typeof kind === 'string' ? similarName(kind, NAMES) : undefined;
  const ours = isOurs(apiVersion) || (meant === kind && isNoGroup(apiVersion)) || (apiVersion === undefined && meant !== undefined);
  const looksLikeTest = kind === undefined && isObject(spec) && 'agentRefs' in spec && ('conversation' in spec || 'simulatedUser' in spec);
  if (!ours && !looksLikeTest) return undefined;
  if (kind === undefined) return { path: 'kind', message: `is required: ${looksLikeTest ? 'AgentTest' : NAMES.join(', ')}` };
  if (typeof kind !== 'string' || !NAMES.includes(kind))
    return { path: 'kind', message: `there is no kind ${JSON.stringify(kind)}: write ${meant ?? `one of ${NAMES.join(', ')}`}` };
  if (apiVersion !== API_VERSION)
    return {
      path: 'apiVersion',
      message: `${apiVersion === undefined ? 'is required' : `there is no ${kind} in ${JSON.stringify(apiVersion)}`}: write ${API_VERSION}`,
    };
  const { name } = isObject(metadata) ? metadata : {};
  return typeof name === 'string' ? undefined : { path: 'metadata.name', message: nameProblem(name) };
}

/** Tells whether this is Parley's group, or likely to be a typing error in it: others have a kind Agent or Tool, too. */
function isOurs(apiVersion: unknown): boolean {
  if (typeof apiVersion !== 'string') return false;
  const [group = '', ...version] = apiVersion.split('/');
  return version.length > 0 && (group.toLowerCase().includes('parley') || similarName(group, [GROUP]) !== undefined);
}

/** A version without a group, such as `v1`, has none of these kinds. */
const isNoGroup = (apiVersion: unknown): boolean => typeof apiVersion !== 'string' || !apiVersion.includes('/');

const nameProblem = (name: unknown): string =>
  name === undefined ? 'is required' : `is ${JSON.stringify(name)}, which is no text: put it in quotes`;
