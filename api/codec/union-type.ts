/** Writes the discriminator of a union, which REST's clients leave out: the member that is set tells it. */
import { isObject } from '../../platform/json.ts';
import { issues } from '../validation/issue.ts';
import type { Encoding, Field } from './fields.ts';

/**
 * Makes the field `type` of an object that has exactly one of some members. It stands behind them in the table.
 *
 * @param members the members by their names in REST; one that the resource has no field for is a flag, and counts where it is true
 */
export function unionType(members: Readonly<Record<string, string>>): Field {
  const names = Object.keys(members);
  return {
    write(_sent, value, encoding, body) {
      const written = isObject(value) ? value : {};
      const sent = isObject(body) ? body : {};
      const set = names.filter((name) => written[members[name] ?? ''] !== undefined || sent[name] === true);
      const { loc, found } = encoding as Encoding;
      if (set.length !== 1) found.push(issues.value(loc, `set exactly one of ${names.join(', ')}`));
      return { ...written, type: typeOf(members[set[0] ?? names[0] ?? ''] ?? '') };
    },
  };
}

const typeOf = (member: string): string => member.charAt(0).toUpperCase() + member.slice(1);
