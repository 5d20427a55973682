import { auditVerification } from '@vitto/contracts';
import { useMutation } from '@tanstack/react-query';
import { useVitto } from '../../api/vitto-context.tsx';

/** Verifying takes as long as there are entries: it is done when it is asked for, not by itself. */
export function useVerification() {
  const { client } = useVitto();
  return useMutation({
    mutationFn: () => client.send({ path: '/audit/verify', schema: auditVerification }),
  });
}

export type Verification = ReturnType<typeof useVerification>;
