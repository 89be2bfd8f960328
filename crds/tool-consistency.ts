/** Checks fields of a Tool that are consistent only together. A tool that can never be called is a problem; all else is a remark. */
import { isObject, type JsonObject } from '../platform/json.ts';
import { similarName } from '../platform/similar-name.ts';
import { argumentNamesIn } from './address.ts';
import { millisecondsOf } from './duration.ts';
import { outlineOf, takesOthers, valuesIn } from './json-schema-outline.ts';
import type { SpecProblem } from './spec-problem.ts';
import { namesIn, stringsIn, type Templates } from './template.ts';
import { DELAYED_AFTER_MS, type ToolSpec } from './tool.ts';

type Custom = NonNullable<ToolSpec['custom']>;
type Mcp = NonNullable<ToolSpec['mcp']>;
type Params = Readonly<Record<string, { readonly value?: unknown }>>;

const HTTP = 'spec.custom.http';
const PARAMETERS = 'spec.custom.function.parameters';

/** Says why the tool could never be called. The parameters of its function have to be a sound JSON Schema. */
export function uncallable({ function: { parameters = {} }, http }: Custom): readonly SpecProblem[] {
  const { fixedParams = {}, runtimeParams = {} } = http;
  const given = Object.keys({ ...runtimeParams, ...fixedParams });
  return [
    ...argumentNamesIn(withoutFragment(http.url)).flatMap((name) => {
      const fault = addressFault(name, { parameters, fixedParams, runtimeParams });
      return fault === undefined ? [] : [{ path: `${HTTP}.url`, message: `holds "{${name}}", ${fault}` }];
    }),
    ...valuesIn(parameters).flatMap(([path, schema]) => undescribed(schema, { root: parameters, path, given: path === '' ? given : [] })),
    ...Object.entries(runtimeParams)
      .filter(([, { value, required }]) => required === true && (value === null || value === ''))
      .map(([name]) => ({
        path: `${HTTP}.runtimeParams.${name}.value`,
        message: 'is empty and required, so the tool could never be called: give it a value, or none to take the data of its name',
      })),
  ];
}

/** Drops the fragment, which is never sent. */
const withoutFragment = (address: string): string => address.replace(/#.*$/s, '');

const FITS = 'only a text, a number or a boolean fits into an address';

/** Says why an argument of the address has no value that an address can hold. */
function addressFault(
  name: string,
  {
    parameters,
    fixedParams,
    runtimeParams,
  }: { readonly parameters: JsonObject; readonly fixedParams: Params; readonly runtimeParams: Params },
): string | undefined {
  const isFixed = Object.hasOwn(fixedParams, name);
  const given = isFixed || Object.hasOwn(runtimeParams, name);
  const { properties } = outlineOf(parameters);
  if (given) {
    const by = isFixed ? 'fixedParams' : 'runtimeParams';
    const value = (isFixed ? fixedParams : runtimeParams)[name]?.value;
    if (value === null || (isFixed && value === undefined))
      return `and ${by} gives it no value, so the tool could never be called: set its value`;
    return typeof value === 'object' ? `and ${by} gives it a list or an object: ${FITS}` : undefined;
  }
  if (Object.hasOwn(properties, name))
    return isStructure(properties[name]) ? `which the parameters describe as a list or an object: ${FITS}` : undefined;
  if (takesOthers(parameters, name)) return undefined;
  const similar = similarName(name, Object.keys({ ...properties, ...fixedParams, ...runtimeParams }));
  const cure =
    similar === undefined
      ? `add ${JSON.stringify(name)} to the properties of the function's parameters, to fixedParams or to runtimeParams`
      : `did you mean "{${similar}}"?`;
  return `which nothing supplies, so the tool could never be called: ${cure}`;
}

function isStructure(property: unknown): boolean {
  const type = isObject(property) ? property['type'] : undefined;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.every((one) => one === 'object' || one === 'array' || one === 'null');
}

/** Finds what a schema requires without a word of it: the model is never told what it is, and some providers refuse such a function. */
function undescribed(
  schema: JsonObject,
  { root, path, given }: { readonly root: JsonObject; readonly path: string; readonly given: readonly string[] },
): readonly SpecProblem[] {
  const { properties, required } = outlineOf(schema, root);
  return required
    .filter((name) => !Object.hasOwn(properties, name) && !given.includes(name) && !takesOthers(schema, name))
    .map((name) => {
      const similar = similarName(name, Object.keys(properties));
      const cure = similar === undefined ? 'add it to properties, or take it out' : `did you mean ${JSON.stringify(similar)}?`;
      return { path: `${PARAMETERS}${path}.required`, message: `names ${JSON.stringify(name)}, which is no property: ${cure}` };
    });
}

/** Returns remarks on fields that have no effect, or work only now and then. */
export function toolRemarks({ custom, mcp, messages }: ToolSpec): readonly SpecProblem[] {
  return [...(custom === undefined ? [] : customRemarks(custom, messages)), ...(mcp === undefined ? [] : mcpRemarks(mcp))];
}

function customRemarks({ function: fn, http }: Custom, messages: ToolSpec['messages']): readonly SpecProblem[] {
  const { url, fixedParams = {}, runtimeParams = {} } = http;
  const { properties, required } = outlineOf(fn.parameters ?? {});
  const given = { ...runtimeParams, ...fixedParams };
  const isArgument = (name: string): boolean => Object.hasOwn(properties, name);
  const optional = argumentNamesIn(withoutFragment(url)).filter((name) => !Object.hasOwn(given, name) && !required.includes(name));
  return [
    ...optional.map((name) => ({
      path: `${HTTP}.url`,
      message: `holds "{${name}}", and the parameters don't require ${JSON.stringify(name)}: a call of the model without it fails; add it to required`,
    })),
    ...namesIn(url)
      .filter(isArgument)
      .map((name) => ({
        path: `${HTTP}.url`,
        message: `holds "{{${name}}}", which is filled from the data of the call: the argument of the model is written "{${name}}"`,
      })),
    ...customTexts({ http, function: fn }).flatMap(([path, text]) =>
      argumentNamesIn(text)
        .filter((name) => isArgument(name) || Object.hasOwn(given, name))
        .map((name) => ({ path, message: `holds "{${name}}", which is sent as it is: arguments are filled into the address alone` })),
    ),
    ...Object.keys(runtimeParams)
      .filter((name) => Object.hasOwn(fixedParams, name))
      .map((name) => ({ path: `${HTTP}.runtimeParams.${name}`, message: 'has no effect: fixedParams has the same name and wins' })),
    ...(messages?.delayed !== undefined && millisecondsOf(http.timeout) <= DELAYED_AFTER_MS
      ? [{ path: 'spec.messages.delayed', message: 'is never said: it is said after 5 s, and the timeout of the tool is not longer' }]
      : []),
  ];
}

function mcpRemarks({ include, exclude = [], tools = [] }: Mcp): readonly SpecProblem[] {
  const isOut = (name: string): boolean => exclude.includes(name) || include?.includes(name) === false;
  return [
    ...exclude.flatMap((name, index) =>
      include?.includes(name) === true
        ? [{ path: `spec.mcp.exclude[${index}]`, message: `${JSON.stringify(name)} is in include, too: it is not offered` }]
        : [],
    ),
    ...tools.flatMap(({ name }, index) =>
      isOut(name)
        ? [{ path: `spec.mcp.tools[${index}]`, message: `has no effect: include and exclude leave ${JSON.stringify(name)} out` }]
        : [],
    ),
  ];
}

interface DataName {
  readonly path: string;
  readonly name: string;
}

const dataNames = new WeakMap<ToolSpec, readonly DataName[]>();

/** Returns the names that the tool's templates look up in the data of a call; once for each spec, which is never changed in place. */
export function dataNamesOf(spec: ToolSpec): readonly DataName[] {
  const found = dataNames.get(spec) ?? templatesOf(spec).flatMap(([path, text]) => namesIn(text).map((name) => ({ path, name })));
  dataNames.set(spec, found);
  return found;
}

function templatesOf({ custom, mcp, messages, description, transferCall }: ToolSpec): Templates {
  return [
    ...stringsIn(messages, 'spec.messages'),
    // The model gets the note where the function has no description of its own; tools of servers have theirs.
    ...(mcp === undefined && custom?.function.description === undefined ? stringsIn(description, 'spec.description') : []),
    ...stringsIn(transferCall?.to, 'spec.transferCall.to'),
    ...(mcp?.headers ?? []).flatMap(({ value }, index) => stringsIn(value, `spec.mcp.headers[${index}].value`)),
    ...(mcp?.tools ?? []).flatMap((tool, index) => stringsIn(tool.messages, `spec.mcp.tools[${index}].messages`)),
    ...(custom === undefined ? [] : [...stringsIn(custom.http.url, `${HTTP}.url`), ...customTexts(custom)]),
  ];
}

/** Returns the texts besides the address. */
function customTexts({ function: fn, http: { headers = [], fixedParams = {}, runtimeParams = {} } }: Custom): Templates {
  return [
    ...stringsIn(fn.description, 'spec.custom.function.description'),
    ...headers.flatMap(({ value }, index) => stringsIn(value, `${HTTP}.headers[${index}].value`)),
    ...Object.entries(fixedParams).flatMap(([name, { value }]) => stringsIn(value, `${HTTP}.fixedParams.${name}.value`)),
    ...Object.entries(runtimeParams).flatMap(([name, { value }]) => stringsIn(value, `${HTTP}.runtimeParams.${name}.value`)),
  ];
}
