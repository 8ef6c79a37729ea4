import { TestWorkflowEnvironment } from '@temporalio/testing';

// Entry of the process that downloads a Temporal CLI of a version, its second argument, into the folder that is its first one.

// Whoever waits for it holds its input open: it ends with that process.
process.stdin.once('end', () => process.exit(1)).resume();

const [downloadDir = '', version = ''] = process.argv.slice(2);
// The SDK downloads only to start a server at once, so one is started on a free port and ended.
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir, version } },
});
await environment.teardown();
process.exit(0);
