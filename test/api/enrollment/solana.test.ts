/** Enrollment on Solana over the routes, with a chain that runs: both owner models, and what is refused. */
import { assert, layer } from "@effect/vitest"
import { Keypair, PublicKey } from "@solana/web3.js"
import { Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll } from "vitest"
import { addressOf, solanaChainId, solanaReference, type WalletId } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"
import { ChainStates } from "#domain/chain/ChainStates.ts"
import {
  PermissionDenied,
  PortfolioExists,
  ReplayInProgress,
  ReplayMismatch,
  ValidationFailed
} from "#domain/errors/Errors.ts"
import { LandWithin } from "#layers/solana/enrollment/SolanaWalletsLive.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { RelayerFunds } from "#domain/relay/RelayerFunds.ts"
import { LostCommits } from "#domain/operation/LostCommits.ts"
import { OperationTags } from "#domain/relay/OperationTags.ts"
import { PartJournal } from "#domain/relay/PartJournal.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import { SolanaClients, SolanaLive } from "#layers/solana/SolanaLive.ts"
import { agentRoleText } from "#layers/solana/enrollment/agentRoleText.ts"
import { newStrategy, newTenant, type Actor } from "#test/api/support/actors.ts"
import { Api, apiIn, HttpEnvironment } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { type EvmWallet, fees, newEvmWallet, signIssued } from "#test/layers/solana/owners.ts"
import { fundedKey, startTestChain } from "#test/sandbox/solana/support.ts"

const chain = await startTestChain()
const agent = fundedKey(chain)
/** Blocks come by themselves, as on a chain that lives. */
const blocks = setInterval(() => chain.ledger.advance(1n), 100)
afterAll(async () => {
  clearInterval(blocks)
  await chain.close()
})

const config = Layer.succeed(SolanaConfig, {
  rpcUrls: [Redacted.make(chain.url)],
  agentSeed: Redacted.make(agent.secretKey.slice(0, 32)),
  fees,
  jupiter: { baseUrl: chain.url, apiKey: null, requestsPerSecond: 1_000 }
})

const noStates = Layer.succeed(ChainStates, { all: Effect.succeed([]) })

const WithSolana: typeof HttpEnvironment = SolanaLive.pipe(
  Layer.provideMerge(HttpEnvironment),
  Layer.provide([
    noStates,
    Layer.mock(PartJournal, {}),
    Layer.mock(LostCommits, {}),
    Layer.mock(OperationTags, {}),
    Layer.mock(TokenReader, {}),
    Layer.mock(WithdrawalTransactions, {}),
    Layer.mock(RelayerFunds, { chains: [] })
  ]),
  Layer.provide(SolanaClients),
  Layer.provide(config),
  Layer.provide(Layer.succeed(LandWithin, Duration.seconds(2)))
)

const newOwner = () => Keypair.generate()
const idOf = ({ publicKey }: Keypair) => `solana:${solanaReference}:${publicKey.toBase58()}`

const entitled = Effect.gen(function* () {
  const actor = yield* newTenant(["svm_b2b_api"])
  return { actor, strategyId: yield* newStrategy(actor) }
})

interface Issued {
  readonly flowId: string
  readonly accountIndex: string
  readonly agentAccountId: string
  readonly solanaTransaction: string
  readonly walletAccountId: WalletId
  readonly depositAccountId: string
  readonly walletRoleId: number
  readonly reusedWallet: boolean
  readonly odometer: number
  readonly message: { readonly kind: string; readonly text: string; readonly raw: string }
}

const stage1 = Effect.fnUntraced(function* (actor: Actor, strategyId: string, ownerAccountId: string) {
  const { call } = yield* Api
  const request = { ownerAccountId, strategyId, chainIds: [solanaChainId] }
  const answer = yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: request })
  assert.strictEqual(answer.status, 200, answer.text)
  const issued = answer.json.data as Issued
  const { accountIndex, agentAccountId, flowId } = issued
  return { answer, issued, body: { ...request, flowId, accountIndex, agentAccountId } }
})

const stage2 = Effect.fnUntraced(function* (actor: Actor, body: unknown) {
  return yield* (yield* Api).call("POST", "/v2/enroll", { key: actor.key, body })
})

/** What an EVM wallet sends. The client builds the text from the answer of stage 1, and signs it at the slot of now. */
const signatureOf = Effect.fnUntraced(function* (owner: EvmWallet, issued: Issued, slot = chain.ledger.slot) {
  const text = agentRoleText({
    agent: new PublicKey(addressOf(issued.agentAccountId as WalletId)),
    wallet: new PublicKey(addressOf(issued.walletAccountId)),
    slot,
    odometer: issued.odometer
  })
  const signature = yield* Effect.promise(() => owner.sign(text))
  return { userSecp256k1PublicKey: owner.publicKey, signature, currentSlot: Number(slot) }
})

const portfoliosOf = Effect.fnUntraced(function* (actor: Actor, owner: string) {
  const { call } = yield* Api
  const answer = yield* call("GET", `/v2/portfolios?ownerAccountId=${encodeURIComponent(owner)}`, { key: actor.key })
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.json.data.portfolios as ReadonlyArray<{
    readonly portfolioId: string
    readonly smartAccounts: ReadonlyArray<unknown>
  }>
})

layer(apiIn(WithSolana), { excludeTestServices: true })("enrollment on Solana", (it) => {
  it.effect("a Solana owner signs the issued transaction, and the portfolio is there with its deposit address", () =>
    Effect.gen(function* () {
      const { actor, strategyId } = yield* entitled
      const owner = newOwner()
      const { answer, body, issued } = yield* stage1(actor, strategyId, idOf(owner))
      assertData(answer, 200, [
        "message",
        "agentAccountId",
        "accountIndex",
        "accountType",
        "flowId",
        "walletAccountId",
        "depositAccountId",
        "walletRoleId",
        "reusedWallet",
        "solanaTransaction"
      ])
      assert.deepInclude(issued, { accountIndex: "0", walletRoleId: 1, reusedWallet: false })
      assert.strictEqual(issued.message.kind, "solana-message")
      assert.include(issued.message.text, addressOf(issued.depositAccountId as WalletId))
      const signed = { ...body, signedSolanaTransaction: signIssued(issued.solanaTransaction, owner) }
      const made = yield* stage2(actor, signed)
      assert.strictEqual(made.status, 201, made.text)
      const account = {
        accountId: issued.depositAccountId,
        depositAccountId: issued.depositAccountId,
        walletRoleId: 1
      }
      assert.deepStrictEqual(made.json.data.smartAccounts, [account])
      const replayed = yield* stage2(actor, signed)
      assert.deepStrictEqual([replayed.status, replayed.json.data], [201, made.json.data])
      const [listed, ...others] = yield* portfoliosOf(actor, idOf(owner))
      assert.lengthOf(others, 0)
      assert.deepStrictEqual(listed!.smartAccounts, [{ ...account, permission: "wallet_role" }])
      const detail = yield* (yield* Api).call("GET", `/v2/portfolios/${made.json.data.portfolioId}`, { key: actor.key })
      assert.deepStrictEqual(detail.json.data.attention, [])
      assertError(
        yield* (yield* Api).call("POST", "/v2/enroll/signature", {
          key: actor.key,
          body: { ownerAccountId: idOf(owner), strategyId, chainIds: [solanaChainId] }
        }),
        PortfolioExists,
        `portfolioId: ${made.json.data.portfolioId}`
      )
    })
  )

  it.effect("the second portfolio of an owner takes the next role of the same wallet", () =>
    Effect.gen(function* () {
      const { actor, strategyId } = yield* entitled
      const owner = newOwner()
      const first = yield* stage1(actor, strategyId, idOf(owner))
      const signedSolanaTransaction = signIssued(first.issued.solanaTransaction, owner)
      assert.strictEqual((yield* stage2(actor, { ...first.body, signedSolanaTransaction })).status, 201)
      const second = yield* stage1(actor, yield* newStrategy(actor), idOf(owner))
      assert.deepInclude(second.issued, { walletRoleId: 2, reusedWallet: true, accountIndex: "0" })
      assert.strictEqual(second.issued.walletAccountId, first.issued.walletAccountId)
      assert.notStrictEqual(second.issued.depositAccountId, first.issued.depositAccountId)
    })
  )

  it.effect("an EVM wallet signs at a slot; its next signature counts one more, and its EVM index stays", () =>
    Effect.gen(function* () {
      const { actor, strategyId } = yield* entitled
      const owner = newEvmWallet()
      const ownerId = `eip155:0:${owner.address}`
      const { body, issued } = yield* stage1(actor, strategyId, ownerId)
      assert.deepInclude(issued, { accountIndex: "0", odometer: 1, reusedWallet: false })
      assert.deepInclude(issued.message, { kind: "ecdsa" })
      const made = yield* stage2(actor, { ...body, ...(yield* signatureOf(owner, issued)) })
      assert.strictEqual(made.status, 201, made.text)
      const other = yield* newStrategy(actor)
      const second = yield* stage1(actor, other, ownerId)
      assert.deepInclude(second.issued, { odometer: 2, reusedWallet: true, walletRoleId: 2 })
      const secondMade = yield* stage2(actor, { ...second.body, ...(yield* signatureOf(owner, second.issued)) })
      assert.strictEqual(secondMade.status, 201, secondMade.text)
      const onEvm = yield* (yield* Api).call("POST", "/v2/enroll/signature", {
        key: actor.key,
        body: { ownerAccountId: ownerId, strategyId: yield* newStrategy(actor), chainIds: [8453] }
      })
      assert.strictEqual(onEvm.json.data.accountIndex, "0")
    })
  )

  it.effect("what the owner did not sign is refused, changes nothing, and leaves the flow open for what it did", () =>
    Effect.gen(function* () {
      const { actor, strategyId } = yield* entitled
      const owner = newOwner()
      const { body, issued } = yield* stage1(actor, strategyId, idOf(owner))
      const before = chain.ledger.account(new PublicKey(addressOf(issued.walletAccountId)))
      const good = Buffer.from(signIssued(issued.solanaTransaction, owner), "base64")
      const changed = Buffer.from(good)
      chain.ledger.advance(1n)
      const other = yield* stage1(actor, strategyId, idOf(owner))
      changed[good.length - 1]! ^= 1
      const refused: ReadonlyArray<readonly [Record<string, unknown>, string]> = [
        [{ signedSolanaTransaction: issued.solanaTransaction }, "signedSolanaTransaction: "],
        [{ signedSolanaTransaction: changed.toString("base64") }, "signedSolanaTransaction: "],
        [{ signedSolanaTransaction: signIssued(other.issued.solanaTransaction, owner) }, "signedSolanaTransaction: "],
        [{ signedSolanaTransaction: "not base64!" }, "signedSolanaTransaction: "],
        [{}, "signedSolanaTransaction: "],
        [{ signature: `0x${"11".repeat(65)}` }, "signedSolanaTransaction: "],
        [{ signedSolanaTransaction: good.toString("base64"), accountIndex: "1" }, "accountIndex: "],
        [{ signedSolanaTransaction: good.toString("base64"), chainIds: [8453] }, "signature: "]
      ]
      for (const [changes, detail] of refused) {
        assertError(yield* stage2(actor, { ...body, ...changes }), ValidationFailed, detail)
      }
      assert.deepStrictEqual(chain.ledger.account(new PublicKey(addressOf(issued.walletAccountId))), before)
      assert.lengthOf(yield* portfoliosOf(actor, idOf(owner)), 0)
      const made = yield* stage2(actor, { ...body, signedSolanaTransaction: good.toString("base64") })
      assert.strictEqual(made.status, 201, made.text)
    })
  )

  it.effect("an EVM wallet's stale slot and wrong signature are refused; the same flow takes a fresh one", () =>
    Effect.gen(function* () {
      const { actor, strategyId } = yield* entitled
      const [owner, stranger] = [newEvmWallet(), newEvmWallet()]
      const { body, issued } = yield* stage1(actor, strategyId, `eip155:0:${owner.address}`)
      const late = yield* signatureOf(owner, issued)
      chain.ledger.advance(70n)
      assertError(yield* stage2(actor, { ...body, ...late }), ValidationFailed, "flowId: ")
      const foreign = yield* signatureOf(stranger, issued)
      assertError(yield* stage2(actor, { ...body, ...foreign }), ValidationFailed, "userSecp256k1PublicKey: ")
      const good = yield* signatureOf(owner, issued)
      const mixed = { ...good, signature: foreign.signature }
      assertError(yield* stage2(actor, { ...body, ...mixed }), ValidationFailed, "signature: ")
      const { currentSlot: _, ...incomplete } = good
      assertError(yield* stage2(actor, { ...body, ...incomplete }), ValidationFailed, "currentSlot: ")
      const fresh = yield* signatureOf(owner, issued)
      const asText = { ...fresh, currentSlot: String(fresh.currentSlot) }
      const made = yield* stage2(actor, { ...body, ...asText })
      assert.strictEqual(made.status, 201, made.text)
    })
  )

  it.effect("a blockhash that is too old, and a wallet that changed, are refused; a new stage 1 goes on", () =>
    Effect.gen(function* () {
      const { actor, strategyId } = yield* entitled
      const owner = newOwner()
      const first = yield* stage1(actor, strategyId, idOf(owner))
      const old = { ...first.body, signedSolanaTransaction: signIssued(first.issued.solanaTransaction, owner) }
      chain.ledger.advance(400n)
      assertError(yield* stage2(actor, old), ValidationFailed, "flowId: ")
      const overtaken = yield* stage1(actor, strategyId, idOf(owner))
      const ahead = yield* stage1(actor, yield* newStrategy(actor), idOf(owner))
      const send = ({ body, issued }: typeof ahead) =>
        stage2(actor, { ...body, signedSolanaTransaction: signIssued(issued.solanaTransaction, owner) })
      assert.strictEqual((yield* send(ahead)).status, 201)
      assertError(yield* send(overtaken), ValidationFailed, "flowId: ")
      assert.strictEqual((yield* send(yield* stage1(actor, strategyId, idOf(owner)))).status, 201)
    })
  )

  it.effect("lost transactions: in progress, then the same bytes again; another signature waits its turn", () =>
    Effect.gen(function* () {
      const { actor, strategyId } = yield* entitled
      const owner = newEvmWallet()
      const ownerId = `eip155:0:${owner.address}`
      const { body, issued } = yield* stage1(actor, strategyId, ownerId)
      const signature = yield* signatureOf(owner, issued)
      chain.fate = "dropped"
      assertError(yield* stage2(actor, { ...body, ...signature }), ReplayInProgress)
      assert.lengthOf(yield* portfoliosOf(actor, ownerId), 0)
      assertError(yield* stage2(actor, { ...body, ...(yield* signatureOf(owner, issued)) }), ReplayMismatch)
      chain.fate = "ok"
      chain.ledger.advance(400n)
      assertError(yield* stage2(actor, { ...body, ...signature }), ValidationFailed, "flowId: ")
      const made = yield* stage2(actor, { ...body, ...(yield* signatureOf(owner, issued)) })
      assert.strictEqual(made.status, 201, made.text)
      assert.lengthOf(yield* portfoliosOf(actor, ownerId), 1)
      const sql = yield* SqlClient.SqlClient
      const attempts = yield* sql`SELECT 1 FROM sub_account_attempts WHERE flow_id = ${issued.flowId}`
      assert.lengthOf(attempts, 2)
    })
  )

  it.effect("what landed unseen is found by the same request, and makes one portfolio under whatever name", () =>
    Effect.gen(function* () {
      const { actor, strategyId } = yield* entitled
      const owner = newOwner()
      const { body, issued } = yield* stage1(actor, strategyId, idOf(owner))
      const signed = { ...body, signedSolanaTransaction: signIssued(issued.solanaTransaction, owner) }
      const sql = yield* SqlClient.SqlClient
      // The process died after the chain took the transaction and before the portfolio was written.
      yield* sql`CREATE OR REPLACE FUNCTION refuse_portfolio() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the process died'; END $$`
      yield* sql`CREATE TRIGGER dying BEFORE INSERT ON portfolios FOR EACH ROW EXECUTE FUNCTION refuse_portfolio()`
      const died = yield* stage2(actor, signed).pipe(
        Effect.ensuring(Effect.orDie(sql`DROP TRIGGER dying ON portfolios`))
      )
      assert.isAtLeast(died.status, 500)
      assert.isNotNull(chain.ledger.account(new PublicKey(addressOf(issued.walletAccountId))) ?? null)
      chain.ledger.advance(400n)
      const made = yield* stage2(actor, { ...signed, portfolioName: "Found again" })
      assert.strictEqual(made.status, 201, made.text)
      assert.lengthOf(yield* portfoliosOf(actor, idOf(owner)), 1)
    })
  )

  it.effect("two requests at the same time make one portfolio", () =>
    Effect.gen(function* () {
      const { actor, strategyId } = yield* entitled
      const owner = newOwner()
      const { body, issued } = yield* stage1(actor, strategyId, idOf(owner))
      const signed = { ...body, signedSolanaTransaction: signIssued(issued.solanaTransaction, owner) }
      const answers = yield* Effect.all([stage2(actor, signed), stage2(actor, signed)], { concurrency: 2 })
      assert.includeMembers(
        [201, 409],
        answers.map(({ status }) => status)
      )
      assert.strictEqual((yield* stage2(actor, signed)).status, 201)
      assert.lengthOf(yield* portfoliosOf(actor, idOf(owner)), 1)
    })
  )

  it.effect("namespaces are not mixed, terms and contracts are refused, and the entitlement is asked for", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, strategyId } = yield* entitled
      const owner = idOf(newOwner())
      const ask = (body: unknown, key = actor.key) => call("POST", "/v2/enroll/signature", { key, body })
      const base = { ownerAccountId: owner, strategyId, chainIds: [solanaChainId] }
      assertError(yield* ask({ ...base, chainIds: [8453, solanaChainId] }), ValidationFailed, "chainIds: expected")
      assertError(yield* ask({ ...base, chainIds: [8453] }), ValidationFailed, "ownerAccountId: ")
      assertError(yield* ask({ ...base, accountType: "ERC1271" }), ValidationFailed, "accountType: ")
      assertError(yield* ask({ ...base, terms: { maxTradeLossBps: 10 } }), ValidationFailed, "terms: ")
      assertError(yield* ask({ ...base, ownerAccountId: `${owner}0` }), ValidationFailed, "ownerAccountId: ")
      const plain = yield* newTenant()
      assertError(yield* ask({ ...base, strategyId: yield* newStrategy(plain) }, plain.key), PermissionDenied)
      assert.include<number>((yield* Chains).supported, solanaChainId)
    })
  )
})
