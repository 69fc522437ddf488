/**
 * The exchange of the pepper by the steps of docs/operations.md, with processes that have both peppers and processes
 * that have one: no key, session, sign-in, webhook or stored answer is lost, and nothing is left under the old pepper.
 */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { evmWallet } from "#domain/values/Caip.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { SecretBox } from "#domain/identity/SecretBox.ts"
import { Sessions } from "#domain/identity/Sessions.ts"
import { makeNonce, readNonce } from "#domain/identity/SignInNonces.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { UserStore } from "#domain/identity/UserStore.ts"
import { makeTenantId, makeUserId, makeWebhookId, type TenantId } from "#domain/values/Ids.ts"
import { resealSecrets } from "#domain/webhook/SecretReseal.ts"
import { secretLabel } from "#domain/webhook/Webhook.ts"
import { WebhookStore } from "#domain/webhook/WebhookStore.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { SecretBoxLive } from "#layers/identity/SecretBoxLive.ts"
import { pepperOfService, pepperUse } from "#layers/sql/identity/Peppers.ts"
import * as Peppers from "#layers/sql/identity/Peppers.ts"
import { newAddress, noon } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"

/** One process, with nothing cached. */
const processUnder = (pepper: string, other: string | null = null) =>
  Layer.fresh(
    Layer.mergeAll(ApiKeys.layer, Tenants.layer, Sessions.layer).pipe(
      Layer.provide(AccessChanges.layer),
      Layer.provideMerge(Layer.merge(KeyHashLive, SecretBoxLive)),
      Layer.provide(
        Layer.succeed(KeyHashConfig, {
          pepper: Redacted.make(pepper),
          other: other === null ? null : Redacted.make(other)
        })
      )
    )
  )

const [old, next] = ["the pepper of before", "the pepper that comes"]
const before = processUnder(old)
/** All processes are like this before one of them is like `turned`. */
const underBoth = processUnder(old, next)
const turned = processUnder(next, old)
const afterwards = processUnder(next)

const isLet = (secret: Redacted.Redacted) =>
  Effect.flatMap(ApiKeys, (keys) => keys.authenticate(Redacted.value(secret))).pipe(
    Effect.match({ onFailure: ({ _tag }) => _tag, onSuccess: () => "let in" })
  )

/** Secrets of the webhook below: the current one, the previous one, and one that was rotated earlier. */
const sealedSecrets = [new Uint8Array([6]), new Uint8Array([4, 5]), new Uint8Array([1, 2, 3])]

const newWebhook = Effect.fnUntraced(function* (tenantId: TenantId) {
  const webhookId = yield* makeWebhookId
  const box = yield* SecretBox
  const store = yield* WebhookStore
  const seal = (...bytes: ReadonlyArray<number>) =>
    box.seal(secretLabel(webhookId), Redacted.make(new Uint8Array(bytes)))
  const secret = seal(1, 2, 3)
  const webhook = { webhookId, tenantId, url: "https://a.example/h", description: null, eventTypes: null }
  yield* store.insert({ ...webhook, createdAt: noon, secret, cursor: 0 }, 10)
  const times = { now: noon, previousUntil: DateTime.add(noon, { hours: 24 }), maxFormer: 4 }
  yield* store.rotate(tenantId, webhookId, { secret: seal(4, 5), ...times })
  yield* store.rotate(tenantId, webhookId, { secret: seal(6), ...times })
  return webhookId
})

const openedSecrets = Effect.gen(function* () {
  const box = yield* SecretBox
  const all = yield* (yield* WebhookStore).sealed(null, 1_000)
  return all.flatMap(({ secrets, webhookId }) =>
    secrets.map((sealed) => Option.getOrNull(Option.map(box.open(secretLabel(webhookId), sealed), Redacted.value)))
  )
})

eachDatabase("The pepper is exchanged", (it) => {
  it.effect("with two at once: what is used is stored under the new one, and then the old one can be dropped", () =>
    Effect.gen(function* () {
      const member = (yield* (yield* UserStore).enter(
        { userId: yield* makeUserId, walletId: evmWallet(newAddress()), createdAt: noon },
        { tenantId: yield* makeTenantId, name: "Acme", email: "", entitlements: [], createdAt: noon, disabledAt: null }
      ))[0]
      const { tenantId } = member
      const made = yield* Effect.gen(function* () {
        yield* Layer.build(Peppers.NotePepper)
        const tenants = yield* Tenants
        const key = yield* tenants.createKey(tenantId, { name: "a", scopes: [], expiresAt: null })
        const idle = yield* tenants.createKey(tenantId, { name: "idle", scopes: [], expiresAt: null })
        const nonce = yield* makeNonce
        const session = yield* (yield* Sessions).open(member, yield* makeNonce, null)
        const webhookId = yield* newWebhook(tenantId)
        const answer = (yield* SecretBox).seal("answer", Redacted.make(new Uint8Array([9])))
        const { pepperName } = yield* KeyHash
        return { key, idle, nonce, token: Option.getOrThrow(session).token, webhookId, answer, pepperName }
      }).pipe(Effect.provide(before), Effect.scoped)
      assert.strictEqual(yield* pepperOfService, made.pepperName)

      // Without the other pepper a process would know none of it.
      assert.strictEqual(yield* Effect.provide(isLet(made.key.secret), afterwards), "KeyInvalid")

      yield* Effect.gen(function* () {
        yield* Layer.build(Peppers.NotePepper)
        assert.strictEqual(yield* isLet(made.key.secret), "let in")
        yield* (yield* Sessions).authenticate(made.token)
        assert.isDefined(yield* readNonce(made.nonce.nonce))
        assert.isTrue(Option.isSome((yield* SecretBox).open("answer", made.answer)))
        const { pepperName } = yield* KeyHash
        assert.strictEqual(yield* pepperOfService, pepperName)
        assert.deepStrictEqual(yield* pepperUse(pepperName, yield* DateTime.now), { current: 1, others: 1 })
        assert.strictEqual(yield* resealSecrets, 3)
        assert.strictEqual(yield* resealSecrets, 0, "once")
      }).pipe(Effect.provide(turned), Effect.scoped)

      // A process whose turn has not come still lets both in, and so does one that was turned.
      assert.strictEqual(yield* Effect.provide(isLet(made.key.secret), underBoth), "let in")
      assert.deepStrictEqual(yield* Effect.provide(openedSecrets, underBoth), sealedSecrets)
      assert.strictEqual(yield* Effect.provide(isLet(made.key.secret), turned), "let in")

      yield* Effect.gen(function* () {
        assert.strictEqual(yield* isLet(made.key.secret), "let in")
        assert.strictEqual(yield* isLet(made.idle.secret), "KeyInvalid", "never used while both were accepted")
        yield* (yield* Sessions).authenticate(made.token)
        assert.deepStrictEqual(yield* openedSecrets, sealedSecrets)
        assert.isUndefined(yield* readNonce(made.nonce.nonce))
      }).pipe(Effect.provide(afterwards))
    })
  )

  it.effect("and thirty requests at once with a key of before are all let in, by processes on both sides", () =>
    Effect.gen(function* () {
      const tenantId = yield* makeTenantId
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO tenants (tenant_id, name, email, entitlements, created_at)
        VALUES (${tenantId}, 'Acme', '', '{}', '2026-01-01')`
      const { secret } = yield* Effect.flatMap(Tenants, (tenants) =>
        tenants.createKey(tenantId, { name: "a", scopes: [], expiresAt: null })
      ).pipe(Effect.provide(before))
      const answers = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? turned : underBoth)),
        (process) => Effect.provide(isLet(secret), process),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(answers), new Set(["let in"]))
    })
  )
})
