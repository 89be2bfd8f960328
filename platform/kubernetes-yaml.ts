/**
 * Reads scalars like kubectl, Helm and Argo CD: YAML 1.1 as go-yaml 2 has it (sigs.k8s.io/yaml). `yes` and `on` are booleans and `0123` is
 * octal, but times of day and dates are texts.
 */
import type { ScalarTag, SchemaOptions } from 'yaml';

const INTEGER = /^[-+]?(?:0[bB][01_]+|0[oO]?[0-7_]+|0[xX][\da-fA-F_]+|0|[1-9][\d_]*)$/;
const FLOAT = /^[-+]?(?:\.\d[\d_]*|\d[\d_]*(?:\.[\d_]*)?)(?:[eE][-+]?\d[\d_]*)?$/;
const NO_JSON = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

const integer = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: INTEGER,
  resolve(text) {
    const plain = text.replaceAll('_', '');
    const negative = plain.startsWith('-');
    // JavaScript wants the o of octal numbers.
    const digits = plain.replace(/^[-+]/, '').replace(/^0[oO]?(?=[0-7])/, '0o');
    return negative ? -Number(digits) : Number(digits);
  },
} satisfies ScalarTag;

const float = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: FLOAT,
  resolve(text) {
    const value = Number(text.replaceAll('_', ''));
    return Number.isFinite(value) ? value : text;
  },
} satisfies ScalarTag;

const noJson = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: NO_JSON,
  resolve(text, onError) {
    onError(`${text} can't be written as JSON: put it in quotes, or give a number`);
    return text;
  },
} satisfies ScalarTag;

const binary = {
  tag: 'tag:yaml.org,2002:binary',
  resolve: (text) => Buffer.from(text, 'base64').toString('utf8'),
} satisfies ScalarTag;

const OURS = new Set(['int', 'float', 'binary', 'timestamp', 'set', 'omap', 'pairs'].map((name) => `tag:yaml.org,2002:${name}`));

export const KUBERNETES_YAML: SchemaOptions & { readonly version: '1.1' } = {
  version: '1.1',
  customTags: (tags) => [...tags.filter((tag) => typeof tag === 'string' || !OURS.has(tag.tag)), integer, float, noJson, binary],
};
