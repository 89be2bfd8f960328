/** A random test on real servers that fails looks for a smaller failure until then, and shows what it has: without a limit it would only be out of time. */
import * as fc from 'fast-check';

fc.configureGlobal({ interruptAfterTimeLimit: 540_000, markInterruptAsFailure: true });
