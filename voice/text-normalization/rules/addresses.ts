/** Says e-mail and web addresses sign by sign. */
import type { Edit } from '../mapped-text.ts';
import type { Language, Rule } from './rule.ts';

const TOKEN = /[^\s\uFFFC<>"“”()[\]{}]+/gu;
/** Longest address that is replaced: nobody could follow a longer one, which is left to the voice. */
const LONGEST = 300;
const EMAIL = /^[\p{L}\d._%+-]{1,64}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63}){1,5}$/u;
const WEB = /^(?:https?:\/\/|www\.)[^@]+$/i;
/** Matches a domain without a scheme; the ends are those that no file has. */
const DOMAIN =
  /^(?:[a-z\d-]{1,63}\.){1,4}(?:com|org|net|io|dev|app|ai|eu|info|biz|edu|gov|uk|us|de|at|ch|fr|es|it|pt|nl|pl|se|dk|be|ie)(?:[/?#:]\S*)?$/;
/** Marks behind an address, which end the sentence. */
const TAIL = /[.,;:!?'’…*]+$/u;

export function addresses({ vocabulary }: Language): Rule {
  if (vocabulary === undefined) return () => [];
  const { signs } = vocabulary;
  const said = (address: string): string =>
    address
      .replace(/^mailto:/i, '')
      .replace(/^https?:\/\//i, '')
      .replace(/\/$/, '')
      .replaceAll(/[@./\-_?=&#+:%~]/g, (sign) => ` ${signs[sign]} `)
      .replaceAll(/\s+/g, ' ')
      .trim();
  return (text) =>
    [...text.matchAll(TOKEN)].flatMap(({ 0: token, index }): readonly Edit[] => {
      const address = token.slice(0, LONGEST + 1).replace(TAIL, '');
      const isAddress = EMAIL.test(address.replace(/^mailto:/i, '')) || WEB.test(address) || DOMAIN.test(address);
      return isAddress && address.length <= LONGEST ? [{ from: index, to: index + address.length, spoken: said(address) }] : [];
    });
}
