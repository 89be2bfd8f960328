/** What stands between a request and the store: decoding, and the checks of the whole object. */
import { kindName, type Target } from './object-parts.ts';
import { pruned } from './merge.ts';
import { badRequest, invalid } from './refusal.ts';
import type { Served } from './resource.ts';
import type { Json } from './schema.ts';
import { valueErrors } from './validate.ts';

const dns1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** @throws Refusal for an object, or a change of one, that breaks a rule. */
export function admit(target: Target, object: Json, old: Json | undefined): void {
  const { resource, name } = target;
  const metadata = object['metadata'] as Json;
  const before = old?.['metadata'] as Json | undefined;
  if (!dns1123.test(name)) {
    const empty = name === '';
    const message = empty
      ? 'Required value: name or generateName is required'
      : `Invalid value: ${JSON.stringify(name)}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`;
    throw invalid(kindName(resource), name, [
      { reason: empty ? 'FieldValueRequired' : 'FieldValueInvalid', field: 'metadata.name', message },
    ]);
  }
  if (before !== undefined && metadata['uid'] !== before['uid']) {
    throw invalid(kindName(resource), name, [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.uid',
        message: `Invalid value: ${JSON.stringify(metadata['uid'])}: field is immutable`,
      },
    ]);
  }
  const had = (before?.['finalizers'] ?? []) as readonly string[];
  const fresh = ((metadata['finalizers'] ?? []) as readonly string[]).filter((finalizer) => !had.includes(finalizer));
  if (before?.['deletionTimestamp'] !== undefined && fresh.length > 0) {
    const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${fresh.map((each) => JSON.stringify(each)).join(', ')}}`;
    throw invalid(kindName(resource), name, [{ reason: 'FieldValueForbidden', field: 'metadata.finalizers', message }]);
  }
  const causes = valueErrors(object, resource.schema);
  if (causes.length > 0) {
    if (resource.builtIn)
      throw badRequest(
        `${resource.descriptor.kind} in version "${resource.descriptor.version}" cannot be handled as a ${resource.descriptor.kind}: ${causes[0]?.message ?? ''}`,
      );
    const noise = {
      reason: 'FieldValueInvalid',
      field: '<nil>',
      message:
        'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    };
    throw invalid(kindName(resource), name, [...causes, noise]);
  }
  const rules = resource.validate(object, old);
  if (rules.length > 0)
    throw invalid(
      kindName(resource),
      name,
      rules.map(({ field, message }) => ({ reason: 'FieldValueInvalid', field, message: `Invalid value: "object": ${message}` })),
    );
}

/** Drops fields that the schema doesn't declare, or refuses them. */
export function decode(resource: Served, body: Json, strict: boolean): { readonly object: Json; readonly warnings: readonly string[] } {
  const unknown: string[] = [];
  const object = pruned(body, resource.schema, '', unknown) as Json;
  const problems = unknown.map((field) => `unknown field "${field}"`).sort();
  if (strict && problems.length > 0) {
    const { kind, version } = resource.descriptor;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${problems.join(', ')}`);
  }
  return { object, warnings: problems };
}
