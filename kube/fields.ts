/** FieldsV1, the API server's notation for sets of fields: `{"f:spec": {"f:ports": {"k:{\"name\":\"http\"}": {".": {}, "f:port": {}}}}}`. */

/** A set of fields: member names of the level below, `.` for the level itself. An empty one is a leaf. */
export type FieldSet = Readonly<Record<string, unknown>>;

export type PathElement =
  /** `f:`: a field of an object. */
  | { readonly type: 'field'; readonly name: string }
  /** `k:`: an item of a list of objects, by the values of its keys. */
  | { readonly type: 'key'; readonly key: Readonly<Record<string, unknown>> }
  /** `v:`: an item of a set. */
  | { readonly type: 'value'; readonly value: unknown }
  /** `i:`: an item by position. */
  | { readonly type: 'index'; readonly index: number };

/** Lists the steps of one level with the sets below them; `.` is not one. */
export function childrenOf(set: FieldSet): { readonly element: PathElement; readonly set: FieldSet }[] {
  const children: { element: PathElement; set: FieldSet }[] = [];
  for (const [member, below] of Object.entries(set)) {
    const element = parseElement(member);
    if (element !== undefined) children.push({ element, set: below as FieldSet });
  }
  return children;
}

/** Whether the set has nothing below it: it then stands for the whole field. */
export function isLeaf(set: FieldSet): boolean {
  return Object.keys(set).every((member) => member === '.');
}

/** @returns undefined for `.` and for notations this version doesn't know. */
export function parseElement(member: string): PathElement | undefined {
  const rest = member.slice(2);
  switch (member.slice(0, 2)) {
    case 'f:':
      return { type: 'field', name: rest };
    case 'k:':
      return { type: 'key', key: JSON.parse(rest) as Record<string, unknown> };
    case 'v:':
      return { type: 'value', value: JSON.parse(rest) };
    case 'i:':
      return { type: 'index', index: Number(rest) };
    default:
      return undefined;
  }
}

/** Reverses {@link parseElement}. */
export function serializeElement(element: PathElement): string {
  switch (element.type) {
    case 'field':
      return `f:${element.name}`;
    case 'key':
      return `k:${JSON.stringify(element.key)}`;
    case 'value':
      return `v:${JSON.stringify(element.value)}`;
    default:
      return `i:${element.index}`;
  }
}

/** Writes a step as the API server does in the causes of a conflict: `.model`, `[name="http"]`, `[="a"]`. */
export function formatElement(element: PathElement): string {
  switch (element.type) {
    case 'field':
      return `.${element.name}`;
    case 'key':
      return `[${Object.entries(element.key)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`;
    case 'value':
      return `[=${JSON.stringify(element.value)}]`;
    default:
      return `[${element.index}]`;
  }
}
