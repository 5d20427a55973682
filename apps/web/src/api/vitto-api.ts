import {
  approval,
  conversation,
  conversationEventPage,
  me,
  page,
  searchResults,
  sentMessage,
  settings,
  systemStatus,
  task,
  type Approval,
  type Conversation,
  type ConversationEventPage,
  type Me,
  type SearchHit,
  type SentMessage,
  type Settings,
  type SystemStatus,
  type Task,
} from '@vitto/contracts';
import { z } from 'zod';
import { ApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';

const conversationPage = page(conversation);
const anything = z.unknown();

const HISTORY_LIMIT = 500;
const LIST_LIMIT = 40;

/** The routes that this app uses, one method each. All throw `ApiError`. */
export class VittoApi {
  readonly #client: ApiClient;
  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Who is signed in; `null` for nobody. Keeps the csrf token for what comes after. */
  async readSession(signal?: AbortSignal): Promise<Me | null> {
    try {
      const found = await this.#client.send({ path: '/session', schema: me, ...(signal ? { signal } : {}) });
      this.#client.csrfToken = found.csrfToken;
      return found;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  }

  async signIn(code: string): Promise<void> {
    await this.#client.send({ method: 'POST', path: '/session', body: { code }, schema: anything });
  }

  async signOut(): Promise<void> {
    await this.#client.send({ method: 'DELETE', path: '/session', schema: anything });
    this.#client.csrfToken = null;
  }

  readSystem(): Promise<SystemStatus> {
    return this.#client.send({ path: '/system', schema: systemStatus });
  }

  readSettings(): Promise<Settings> {
    return this.#client.send({ path: '/settings', schema: settings });
  }

  listConversations(cursor: string | null): Promise<z.infer<typeof conversationPage>> {
    const query = new URLSearchParams({ limit: String(LIST_LIMIT), ...(cursor === null ? {} : { cursor }) });
    return this.#client.send({ path: `/conversations?${query}`, schema: conversationPage });
  }

  createConversation(allowedPaths: readonly string[], idempotencyKey: string): Promise<Conversation> {
    return this.#client.send({
      method: 'POST',
      path: '/conversations',
      body: allowedPaths.length === 0 ? {} : { allowedPaths },
      idempotencyKey,
      schema: conversation,
    });
  }

  readConversation(id: string): Promise<Conversation> {
    return this.#client.send({ path: `/conversations/${encodeURIComponent(id)}`, schema: conversation });
  }

  renameConversation(id: string, title: string): Promise<Conversation> {
    return this.#client.send({
      method: 'PATCH',
      path: `/conversations/${encodeURIComponent(id)}`,
      body: { title },
      schema: conversation,
    });
  }

  /** With its tasks, events and files; what runs in it is cancelled. */
  async deleteConversation(id: string): Promise<void> {
    await this.#client.send({
      method: 'DELETE',
      path: `/conversations/${encodeURIComponent(id)}`,
      schema: anything,
    });
  }

  async searchConversations(text: string, signal?: AbortSignal): Promise<SearchHit[]> {
    const found = await this.#client.send({
      path: `/search?${new URLSearchParams({ q: text })}`,
      schema: searchResults,
      ...(signal ? { signal } : {}),
    });
    return found.items;
  }

  /** The folders that tasks of this conversation may read, all of them; the answer has them as the server found them. */
  allowPaths(id: string, allowedPaths: readonly string[]): Promise<Conversation> {
    return this.#client.send({
      method: 'PATCH',
      path: `/conversations/${encodeURIComponent(id)}`,
      body: { allowedPaths },
      schema: conversation,
    });
  }

  /** A page of a conversation's events, oldest first, that ends before a position; without one, the newest page. */
  readHistory(id: string, before: number | null, signal?: AbortSignal): Promise<ConversationEventPage> {
    const query = new URLSearchParams({
      limit: String(HISTORY_LIMIT),
      ...(before === null ? {} : { before: String(before) }),
    });
    return this.#client.send({
      path: `/conversations/${encodeURIComponent(id)}/events?${query}`,
      schema: conversationEventPage,
      ...(signal ? { signal } : {}),
    });
  }

  sendMessage(
    conversationId: string,
    message: { text: string; answers?: string; attachments?: string[]; replaces?: string },
    idempotencyKey: string,
  ): Promise<SentMessage> {
    return this.#client.send({
      method: 'POST',
      path: `/conversations/${encodeURIComponent(conversationId)}/messages`,
      body: message,
      idempotencyKey,
      schema: sentMessage,
    });
  }

  /** Starts the demo. The first time the server fetches a package for it, which takes some seconds. */
  startDemo(idempotencyKey: string): Promise<Task> {
    return this.#client.send({ method: 'POST', path: '/demo', body: {}, idempotencyKey, schema: task });
  }

  readTask(id: string): Promise<Task> {
    return this.#client.send({ path: `/tasks/${encodeURIComponent(id)}`, schema: task });
  }

  async cancelTask(id: string, idempotencyKey: string): Promise<void> {
    await this.#client.send({
      method: 'POST',
      path: `/tasks/${encodeURIComponent(id)}/cancel`,
      body: {},
      idempotencyKey,
      schema: anything,
    });
  }

  /** Tells a task something; one that runs reads it at its next step. */
  async steerTask(
    id: string,
    message: { text: string; answers?: string },
    idempotencyKey: string,
  ): Promise<void> {
    await this.#client.send({
      method: 'POST',
      path: `/tasks/${encodeURIComponent(id)}/messages`,
      body: message,
      idempotencyKey,
      schema: anything,
    });
  }

  decideApproval(
    id: string,
    decision: { decision: 'approved' | 'refused'; note?: string; argumentsHash: string },
    idempotencyKey: string,
  ): Promise<Approval> {
    return this.#client.send({
      method: 'POST',
      path: `/approvals/${encodeURIComponent(id)}/decision`,
      body: decision,
      idempotencyKey,
      schema: approval,
    });
  }
}

/** Where an artifact's bytes are; the server gives them as a download. */
export function artifactAddress(id: string): string {
  return `/api/artifacts/${encodeURIComponent(id)}/content`;
}
