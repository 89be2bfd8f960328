/** The headers that a tool sends, in REST. Pure. */
import { z } from 'zod';

import type { ToolSpec } from '../../crds/index.ts';
import { headers } from '../codec/conversions.ts';
import { field } from '../codec/fields.ts';
import type { Draft } from '../codec/present.ts';
import { headerMap } from '../codec/schemas.ts';

/** @param sentTo where they go, by the field that says so */
export const headersField = (path: string, sentTo: (draft: Draft<ToolSpec>) => Readonly<Record<string, string>>) =>
  field({
    path,
    as: headers(() => 'header'),
    create: headerMap.nullish(),
    answer: z
      .record(z.string(), z.string())
      .describe('Values that look secret are `"********"` unless the key names the permission `secrets:read`.'),
    empty: {},
    sentTo,
  });
