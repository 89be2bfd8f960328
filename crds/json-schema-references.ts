/** Finds the subschemas of a JSON Schema, and references and patterns that lead nowhere, in time proportional to the schema's size. */
import { cutText } from '../platform/cut-text.ts';
import { isObject, type JsonObject } from '../platform/json.ts';

/** These keywords of draft-07 and 2020-12 hold one schema, a list, or a map of them. `items` and `dependencies` differ between the two. */
const holdsSchemas = wordSet(
  'additionalItems additionalProperties allOf anyOf contains contentSchema else if items not oneOf prefixItems propertyNames then unevaluatedItems unevaluatedProperties',
);
const holdsMapOfSchemas = wordSet('$defs definitions dependencies dependentSchemas patternProperties properties');

/** A subschema with the resource (the nearest schema with an `$id`) that its references start from. */
interface Place {
  readonly schema: JsonObject;
  readonly uri: string;
  readonly root: JsonObject;
}

/** Base of a schema without an `$id`: a relative `$id` needs one. */
const NO_ID = 'schema:/';

/**
 * Returns all subschemas but `true` and `false`, the schema itself first.
 * @returns undefined when there are more than `most`, those two included
 */
function placesIn(schema: JsonObject, most: number): readonly Place[] | undefined {
  const places: Place[] = [withOwnId({ schema, uri: NO_ID, root: schema })];
  let plain = 0;
  // The list grows while it is read: each place appends those below it.
  for (const place of places) {
    for (const child of childrenOf(place.schema)) {
      if (typeof child === 'boolean') plain += 1;
      else if (isObject(child)) places.push(withOwnId({ ...place, schema: child }));
      if (places.length + plain > most) return undefined;
    }
  }
  return places;
}

function* childrenOf(schema: JsonObject): Generator {
  for (const [keyword, value] of Object.entries(schema)) {
    if (holdsSchemas.has(keyword) && !Array.isArray(value)) yield value;
    else if (holdsSchemas.has(keyword)) yield* value as unknown[];
    else if (holdsMapOfSchemas.has(keyword) && isObject(value)) yield* Object.values(value);
  }
}

function withOwnId(place: Place): Place {
  const { $id: id } = place.schema;
  // In draft-07 an `$id` of a fragment alone is an anchor.
  if (typeof id !== 'string' || id.startsWith('#')) return place;
  return { schema: place.schema, root: place.schema, uri: resolved(id, place.uri) ?? place.uri };
}

/** Tells whether a schema has more than `most` subschemas, itself included. Counts no further. */
export function hasMoreSubschemas(schema: JsonObject, most: number): boolean {
  return placesIn(schema, most) === undefined;
}

/** Checks beyond the meta-schema: an invalid pattern, a reference to nowhere or out of the schema, a duplicate name. */
export function referenceFault(schema: JsonObject): string | undefined {
  const places = placesIn(schema, Number.POSITIVE_INFINITY) ?? [];
  const names = new Map<string, JsonObject>();
  for (const { schema: at, uri, root } of places) {
    for (const name of [...(at === root ? [uri] : []), ...anchorsOf(at).map((anchor) => `${uri}#${anchor}`)]) {
      if (names.has(name)) return `two of its schemas are called ${shown(name.replace(NO_ID, ''))}`;
      names.set(name, at);
    }
  }
  const known = new Set(places.map(({ schema: at }) => at));
  for (const place of places) {
    const fault = keywordFault(place.schema);
    if (fault !== undefined) return fault;
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reference = place.schema[keyword];
      if (typeof reference !== 'string') continue;
      const target = targetOf(reference, place, names);
      if (typeof target !== 'boolean' && !known.has(target as JsonObject)) {
        return `can't resolve reference ${shown(reference)}: a reference has to lead to a schema within this one`;
      }
    }
  }
  return undefined;
}

function anchorsOf({ $anchor, $dynamicAnchor, $id }: JsonObject): readonly string[] {
  const named = typeof $id === 'string' && $id.length > 1 && $id.startsWith('#') ? [$id.slice(1)] : [];
  // Both keywords may give one schema the same name.
  return [...new Set([...named, $anchor, $dynamicAnchor].filter((name) => typeof name === 'string'))];
}

/** Finds keywords for which no validator could be made. */
function keywordFault({ enum: values, pattern, patternProperties }: JsonObject): string | undefined {
  if (Array.isArray(values) && values.length === 0) return 'enum must have at least one value';
  for (const source of [pattern, ...(isObject(patternProperties) ? Object.keys(patternProperties) : [])]) {
    if (typeof source !== 'string') continue;
    const fault = patternFault(source);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A pattern is fine if it is fine without the `u` flag. */
function patternFault(source: string): string | undefined {
  try {
    return void RegExp(source);
  } catch (error) {
    return (error as Error).message;
  }
}

function targetOf(reference: string, { uri, root }: Place, names: ReadonlyMap<string, JsonObject>): unknown {
  const hash = reference.indexOf('#');
  const [address, fragment] = hash < 0 ? [reference, ''] : [reference.slice(0, hash), reference.slice(hash + 1)];
  const at = address === '' ? uri : resolved(address, uri);
  const resource = address === '' ? root : names.get(at ?? '');
  if (fragment !== '' && !fragment.startsWith('/')) return names.get(`${at}#${fragment}`);
  return fragment === '' ? resource : pointed(resource, fragment);
}

/** Returns what a JSON pointer in a fragment, without its `#`, names. @see RFC 6901, section 6 */
export function pointed(from: unknown, fragment: string): unknown {
  let pointer: string;
  try {
    pointer = decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
  let at = from;
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as JsonObject)[name];
  }
  return at;
}

function resolved(reference: string, base: string): string | undefined {
  return URL.parse(reference.replace(/#$/, ''), base)?.href;
}

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** Cuts a reference, which may be as long as the schema. */
const shown = (name: string): string => cutText(name, 200);
