import { receiverCommand } from './cli/receiver.ts';

process.exitCode = await receiverCommand(process.env);
