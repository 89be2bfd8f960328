/** Runs `parley explain`, which gives the verdict without what surrounds the object. */
import { findOperator } from '../../cluster/operator.ts';
import { Reader } from '../../cluster/reader.ts';
import { withConnection } from '../connection.ts';
import type { Io } from '../io.ts';
import { formatOf, writeAs, type OutputFlags } from '../../output.ts';
import { assess } from './assess.ts';
import { gather } from './gather.ts';
import { printAssessment } from './print.ts';
import { parseTarget } from './target.ts';

export interface ExplainOptions {
  /** `<kind>/<name>` */
  readonly object: string;
  readonly org?: string;
  readonly output?: OutputFlags['output'] | undefined;
}

/**
 * Exits with 0 when the object is ready, with 1 when it isn't.
 * @throws UserError when the object or the cluster can't be found
 */
export async function runExplain({ object, org, ...flags }: ExplainOptions, io: Io): Promise<void> {
  const target = parseTarget(object);
  const namespace = org || io.env['PARLEY_ORG'];
  const assessment = await withConnection(
    namespace ? { namespace } : {},
    io,
    async (connection) => {
      const reader = new Reader(connection.transport);
      const gathered = await gather(reader, connection.namespace, target);
      const operator = await findOperator(new Reader(connection.transport), connection, io.now());
      return assess({ ...gathered, notes: reader.notes, operator }, io.now());
    },
    { forbiddenCure: 'use a kubeconfig whose user may read the organisation' },
  );
  await writeAs(io, formatOf(flags), assessment, () => printAssessment(assessment));
  io.exit(assessment.ready ? 0 : 1);
}
