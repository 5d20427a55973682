/** What a route says for the audit trail: `{ action: 'secret.set', object: 'secret' }`. */
export interface AuditedAct {
  /** An object and what became of it, with a dot between. */
  action: string;
  /** The kind of thing it is done to. Its id is the first parameter of the address, or the `id` of the answer. */
  object: string;
  /** Small facts of the act. Never a secret, a body or what somebody wrote. */
  detail?: (request: { body: unknown; params: unknown }, answer: Record<string, unknown>) => AuditFacts;
}

/** Of a route that changes something and leaves no entry: why. */
export interface NotAudited {
  none: string;
}

export type RouteAudit = AuditedAct | NotAudited;
export type AuditFacts = Record<string, string | number | boolean | null | string[]>;

/** An act that a route does among others, such as a tool that is called through it. */
export interface AuditedCall {
  action: string;
  object: string;
  objectId: string | null;
  detail?: AuditFacts;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Written once the route has done its work. Each route that changes something has one, or says why not. */
    audit?: RouteAudit;
  }
  interface FastifyRequest {
    /** Adds an entry of its own, for a route whose one address does many things. */
    recordAudit: (call: AuditedCall) => Promise<void>;
    /** Adds an entry of a refusal that is answered with another status than 401 or 403. Never throws. */
    recordRefusal: (object: string, objectId: string, code: string) => Promise<void>;
  }
  interface FastifyInstance {
    /** Routes that change something and say nothing of the audit trail: `POST /api/x`. A test wants none. */
    unauditedRoutes: string[];
  }
}

/** The names of the settings or fields that a body gives. */
export function changedFields(request: { body: unknown }): AuditFacts {
  return { fields: Object.keys(request.body ?? {}) };
}
