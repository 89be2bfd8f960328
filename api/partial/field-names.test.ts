import { describe, expect, it } from 'vitest';

import { agentKind } from '../../crds/index.ts';
import { agentFieldNames } from '../agents/fields.ts';
import { inRestNames, restLoc, restName } from './field-names.ts';
import { shapeOf, type Shape } from './shape.ts';

describe('paths of a resource in the words of REST', () => {
  it.each([
    ['.spec.displayName', 'agent_name'],
    ['.spec.llm.model', 'llm.model_name'],
    ['.spec.dynamicData[name="a.b"].url', 'dynamic_data_config.url'],
    ['.spec.dynamicData[name="a"].headers[name="X"].value', 'dynamic_data_config.headers'],
    ['.spec.requiredDynamicData[="x"]', 'llm.required_dynamic_data'],
    ['.spec.suspend', '.spec.suspend'],
    ['.metadata.labels.x', '.metadata.labels.x'],
  ])('%s is %s', (path, name) => expect(restName(agentFieldNames, path)).toBe(name));

  it.each([
    ['spec.call.maxDuration', ['body', 'max_call_duration_seconds']],
    ['spec.dynamicData[2].body', ['body', 'dynamic_data_config', 2, 'body']],
    ['spec.dynamicData[2].response[1].path', ['body', 'dynamic_data_config', 2, 'response_data', 1, 'data']],
    ['spec.postCallAnalysis[0].choices[3]', ['body', 'post_call_analysis', 0, 'choices', 3]],
    ['spec.suspend', undefined],
  ])('%s stands at %j', (path, loc) => expect(restLoc(agentFieldNames, path)).toEqual(loc));

  it.each([
    [
      'names no item of spec.postCallAnalysis; there is no maxDuration',
      'names no item of post_call_analysis; there is no max_call_duration_seconds',
    ],
    ['names must differ, and "maxDuration" is there twice', 'names must differ, and "maxDuration" is there twice'],
    ['must be a JavaScript name, or at most maxFoo', 'must be a JavaScript name, or at most maxFoo'],
  ])('stand in a message: %s', (message, text) => expect(inRestNames(agentFieldNames, message)).toBe(text));

  it('exist for every field of an agent that REST knows', () => {
    const leaves = (shape: Shape, path: string): readonly string[] => {
      if (shape.type === 'object')
        return Object.entries(shape.fields).flatMap(([name, field]) => leaves(field, path === '' ? name : `${path}.${name}`));
      return shape.type === 'keyed' ? leaves(shape.item, `${path}.*`) : [path];
    };
    const missing = leaves(shapeOf(agentKind.spec), '').filter((path) => restName(agentFieldNames, `.spec.${path}`) === `.spec.${path}`);
    // Only resources have these, and the fields of speech that is spoken.
    expect(missing.filter((path) => !path.startsWith('speech.'))).toEqual(['suspend', 'deletionPolicy']);
  });
});
