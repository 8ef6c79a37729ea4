import { TEST_POINTS } from '../../../src/app/start/test-points.ts';
import { createCrashPoints, killSelf, stopSelf } from './crash-points.ts';

const points = createCrashPoints({ crashAt: process.env['CRASH_AT'] ?? '', killSelf, stopSelf });

Object.defineProperty(globalThis, TEST_POINTS, { value: points });
