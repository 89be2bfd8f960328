import { z } from 'zod';

import { LONGEST_FILTER_VALUE, MOST_FILTER_FIELDS } from '../../knowledge/search-filter.ts';
import { issues } from '../validation/issue.ts';
import { withRule } from '../validation/validate.ts';

/** Extensions of the file types that Parley reads, without the dot. */
export const fileExtensions = ['pdf', 'docx', 'txt', 'md', 'xlsx', 'xls'] as const;
export const MAX_FILE_BYTES = 50 * 1024 * 1024;
export const MAX_METADATA_BYTES = 8 * 1024;

/** Longest snippet of a hit, in characters: an agent says it in half a minute. */
export const SNIPPET_LENGTH = 500;

/** Describes the form for the document; `receiveUpload` reads it. */
export const fileForm = z.object({
  file: z
    .string()
    .meta({ format: 'binary', contentMediaType: 'application/octet-stream' })
    .describe(`At most 50 MB; its name ends in ${fileExtensions.map((each) => `\`.${each}\``).join(', ')}, in any case.`),
  metadata: z
    .string()
    .optional()
    .meta({ contentMediaType: 'application/json' })
    .describe('A JSON object of texts, numbers and booleans, at most 8 KiB and 256 fields: what a search can filter by.'),
});

const pageUrl = withRule(
  z
    .string()
    .max(2048)
    .regex(/^https?:\/\//),
  (url, loc) => {
    // The pattern lets `http://` and spaces through, which make no address.
    if (!URL.canParse(url) || /[\s\p{Cc}]/u.test(url)) return [issues.value(loc, 'this is no address of a web page')];
    const holdsCredentials = /^https?:\/\/[^/?#]*@/.test(url);
    return holdsCredentials
      ? [issues.value(loc, 'holds a user name or password, which anybody could read here: name pages without a login')]
      : [];
  },
);

/** Describes the fields; `readMetadata` checks them, as for a file. */
export const documentMetadata = z.record(z.string(), z.unknown()).meta({
  id: 'DocumentMetadataCreate',
  additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
  propertyNames: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,64}$' },
});

export const websiteSubmission = z.object({
  page_urls: z.array(pageUrl).min(1).max(100).describe('Pages to read; together they become one document. No links are followed.'),
  metadata: documentMetadata.nullish().describe('What a search can filter by, as for a file: at most 8 KiB and 256 fields.'),
});

export type WebsiteSubmission = z.output<typeof websiteSubmission>;

/** The object is closed: a misnamed filter would be no filter. */
export const searchRequest = z.strictObject({
  query: z.string().min(1).max(2000).describe('What to search for, in words: 1 to 2000 characters.'),
  knowledge_base_id: z.string().describe('The `id` of the knowledge base.'),
  top_k: z.int().min(1).max(100).default(5).describe('How many chunks to answer at most.'),
  filter: z
    .record(z.string(), z.unknown())
    // This describes the fields; `parseFilter` checks them, and takes no others.
    .meta({
      id: 'SearchFilter',
      additionalProperties: {
        title: 'SearchCondition',
        type: 'object',
        properties: {
          $eq: {
            description: 'The value that the field has to have.',
            anyOf: [{ type: 'string', maxLength: LONGEST_FILTER_VALUE }, { type: 'number' }, { type: 'boolean' }],
          },
        },
        required: ['$eq'],
        additionalProperties: false,
      },
      minProperties: 1,
      maxProperties: MOST_FILTER_FIELDS,
      propertyNames: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,64}$' },
    })
    .nullish()
    .describe(
      'Only chunks with all of these values, each in the metadata of the document or, of what the results show in `metadata`, `title`, `page`, `sheet`, `first_row`, `last_row` and `url`; also `document_id` and `filename`.',
    ),
});
