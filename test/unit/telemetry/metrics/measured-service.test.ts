import { describe, expect, it } from 'vitest';
import { SERVICE_OPERATIONS } from '../../../../src/domain/ports/measures.ts';
import { createInvoicingService } from '../../../../src/service/client.ts';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import { measuredService } from '../../../../src/telemetry/metrics/measured-service.ts';
import { createMeter } from '../../../../src/telemetry/metrics/meter.ts';

describe('the counter of answers', () => {
  it('shows that nobody was let in as a rise: it is there before the first denial', async () => {
    const meter = createMeter();
    const service = createInvoicingService({
      ...{ baseUrl: 'http://127.0.0.1:9', apiKey: 'sk_test_metrics', profile: DEFAULT_PROFILE, application: 'metrics' },
    });

    measuredService(service, meter);

    for (const operation of SERVICE_OPERATIONS)
      expect(await meter.text()).toContain(
        `lote_service_answers_total{operation="${operation}",answer="access-denied"} 0\n`,
      );
    await service.close();
    await meter.close();
  });
});
