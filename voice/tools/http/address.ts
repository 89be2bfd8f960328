/**
 * Fills the address of a request. A value stays inside of its part: it can't begin another path, another query or another host.
 */
import { type DynamicData, fillTemplate, formatValue } from '../../../crds/template.ts';
import { closedHost, EITHER_PLACEHOLDER } from '../../../crds/address.ts';

export interface FilledAddress {
  readonly url: string;
  /** The path parameters in it, which need not be sent again. */
  readonly used: ReadonlySet<string>;
}

/** A problem of the address, for the model and the log: names what is missing, never a value. */
export interface AddressProblem {
  readonly problem: string;
}

export interface AddressOptions {
  readonly data: DynamicData;
  /** Values of `{name}`; without them single braces are text. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Headers of the request: with a Secret's value among them, the address itself has to name the server. */
  readonly headers?: readonly { readonly valueFrom?: unknown }[] | undefined;
}

const DYNAMIC_PLACEHOLDER = /\{\{([^{}]+)\}\}/g;

/** Matches what URL parsers read as "this folder" and "the parent folder". */
const DOTS = /^(\.|%2e){1,2}$/i;

export function fillAddress(template: string, { data, parameters, headers }: AddressOptions): FilledAddress | AddressProblem {
  const [open] = closedHost(template, headers, '');
  if (open !== undefined) return { problem: `the address ${open.message}` };
  const used = new Set<string>();
  let problem: string | undefined;
  const fill = (text: string, encode: (value: string) => string): string =>
    text.replaceAll(
      parameters === undefined ? DYNAMIC_PLACEHOLDER : EITHER_PLACEHOLDER,
      (all: string, dynamic?: string, parameter?: string) => {
        if (dynamic !== undefined) return fillTemplate(all, data, encode);
        const name = parameter?.trim() ?? '';
        const value = parameters !== undefined && Object.hasOwn(parameters, name) ? parameters[name] : undefined;
        used.add(name);
        if (value === undefined || value === null) problem ??= `"${name}" is missing: it is part of the address`;
        else if (typeof value === 'object') problem ??= `"${name}" has to be a text or a number: it is part of the address`;
        return encode(formatValue(value));
      },
    );

  const [, scheme = '', authority = '', path = '', query = ''] = /^(https?:\/\/)([^/?#]*)([^?#]*)(\?[^#]*)?/i.exec(template) ?? [];
  const host = fill(authority, (value) => component(value).replaceAll('%3A', ':'));
  const segments = path.split('/').map((segment) => {
    const filled = fill(segment, component);
    if (filled === segment) return filled;
    if (filled === '') problem ??= `a part of the address is empty: ${nameIn(segment)} has no value`;
    else if (DOTS.test(filled)) problem ??= `${nameIn(segment)} can't be "." or "..": it is part of the address`;
    return filled;
  });
  const search = fill(query, component);
  return problem === undefined ? { url: `${scheme}${host}${segments.join('/')}${search}`, used } : { problem };
}

/** Adds to the query: a list as several values, an object as JSON. */
export function withQuery(
  url: string,
  values: Readonly<Record<string, unknown>>,
  options: { readonly keep?: ReadonlySet<string> } = {},
): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null || options.keep?.has(name) === true) continue;
    parsed.searchParams.delete(name);
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value])
      parsed.searchParams.append(name, formatValue(item).toWellFormed());
  }
  return parsed.href;
}

export function queryNames(url: string): ReadonlySet<string> {
  return new Set(URL.parse(url)?.searchParams.keys() ?? []);
}

const component = (value: string): string => encodeURIComponent(value.toWellFormed());

const nameIn = (segment: string): string => `"${segment.replaceAll(/[{}]/g, '').trim()}"`;
