/** Owners of both kinds enroll over JSON-RPC, and what may not pass does not. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createTransferCheckedInstruction } from "@solana/spl-token"
import { Keypair, type PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from "@solana/web3.js"
import { Effect, Option, Schema } from "effect"
import { findSwigPda } from "@swig-wallet/classic"
import { agentRoleText } from "#layers/solana/enrollment/agentRoleText.ts"
import { acceptFromEvmOwner, issueForEvmOwner } from "#layers/solana/enrollment/evmOwner.ts"
import { lastWithdrawableRole, stateIn, walletIdOf } from "#layers/solana/enrollment/findWallet.ts"
import { isMade, WalletSubAccount } from "#layers/solana/enrollment/Flow.ts"
import { acceptFromSolanaOwner, issueForSolanaOwner, SolanaFlow } from "#layers/solana/enrollment/solanaOwner.ts"
import { prepare, signedByAgent } from "#layers/solana/lifecycle/prepare.ts"
import type { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { subAccount, swigProgram, walletConfig } from "#layers/solana/swig/addresses.ts"
import { addAuthorityText } from "#test/layers/solana/packageText.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import { installMints, issue, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { usdc } from "#sandbox/assets/splCatalog.ts"
import {
  executed,
  enrollEvm,
  enrollSolana,
  fees,
  newAgent,
  newEvmWallet,
  onChain,
  signIssued,
  tenantId,
  signatureOf
} from "#test/layers/solana/owners.ts"
import { lamportsOf, sol, type TestChain } from "#test/sandbox/solana/support.ts"

const moves = (
  { id, roleId }: { readonly id: Uint8Array; readonly roleId: number },
  to: PublicKey,
  from = subAccount(id, roleId).address
) => ({
  _tag: "ActForSubAccount" as const,
  id,
  roleId,
  inner: [SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: sol })]
})

const acting = (agent: ReturnType<typeof newAgent>, step: ReturnType<typeof moves>) =>
  Effect.flatMap(prepare({ agent: agent.key, steps: [step], fees }), (prepared) => signedByAgent(agent, prepared))

eachSwig("enrollment", (start) => {
  let chain: TestChain
  let agent: ReturnType<typeof newAgent>
  beforeAll(async () => {
    chain = await start()
    agent = newAgent(chain)
    installMints(chain.ledger)
  })
  afterAll(() => chain.close())
  const run = <A, E>(effect: Effect.Effect<A, E, SolanaRpc>) => onChain(chain)(effect)
  const issued = (owner: PublicKey) =>
    issueForSolanaOwner({ tenantId, owner, agent: agent.key, brand: "Ballast", fees })
  const accept = (flow: SolanaFlow, owner: PublicKey, signedTransaction: string) =>
    acceptFromSolanaOwner({ fees, flow, owner, agent, signedTransaction })

  describe("of a Solana owner", () => {
    it.live("makes wallet, role and sub-account; what is deposited there the agent moves", () =>
      run(
        Effect.gen(function* () {
          const owner = Keypair.generate()
          const { deposit, issued: stage1, outcome, place } = yield* enrollSolana(chain, agent, owner)
          assert.strictEqual(outcome._tag, "Landed")
          assert.deepInclude(place, { roleId: 1, isReused: false })
          assert.include(stage1.text, deposit.toBase58())
          assert.isTrue(yield* isMade(place, agent.key))
          issue(chain.ledger, deposit, { token: usdc, amountRaw: 5n })
          chain.ledger.airdrop(deposit, 2n * sol)
          const to = Keypair.generate().publicKey
          const acted = yield* executed(chain, acting(agent, moves({ id: place.walletId, roleId: 1 }, to)))
          assert.strictEqual(acted.outcome._tag, "Landed")
          assert.strictEqual(lamportsOf(chain, to), sol)
        })
      )
    )

    it.live("stage 1 signs nothing and changes nothing", () =>
      run(
        Effect.gen(function* () {
          const owner = Keypair.generate().publicKey
          const before = chain.ledger.changes
          const { flow, transaction } = yield* issued(owner)
          assert.strictEqual(chain.ledger.changes, before)
          const { signatures } = VersionedTransaction.deserialize(Buffer.from(transaction, "base64"))
          assert.strictEqual(signatures.length, 2)
          assert.isTrue(signatures.every((signature) => signature.every((byte) => byte === 0)))
          const stored = Schema.encodeSync(SolanaFlow)(flow)
          assert.deepStrictEqual(Schema.decodeSync(SolanaFlow)(JSON.parse(JSON.stringify(stored))), flow)
        })
      )
    )

    it.live("a second portfolio reuses the wallet and has a deposit address of its own", () =>
      run(
        Effect.gen(function* () {
          const owner = Keypair.generate()
          const first = yield* enrollSolana(chain, agent, owner)
          const second = yield* enrollSolana(chain, agent, owner)
          assert.deepInclude(second.place, { roleId: 2, isReused: true })
          assert.isTrue(second.wallet.equals(first.wallet))
          assert.isFalse(second.deposit.equals(first.deposit))
          assert.isTrue(yield* isMade(second.place, agent.key))
        })
      )
    )

    it.live("a wallet is full where its owner could not withdraw from one more, and the next is opened", () =>
      run(
        Effect.gen(function* () {
          const owner = Keypair.generate()
          let last = yield* enrollSolana(chain, agent, owner)
          const { wallet } = last
          while (last.place.roleId < lastWithdrawableRole) last = yield* enrollSolana(chain, agent, owner)
          assert.isTrue(last.wallet.equals(wallet))
          const next = yield* enrollSolana(chain, agent, owner)
          assert.isFalse(next.wallet.equals(wallet))
          assert.deepInclude(next.place, { roleId: 1, isReused: false })
        })
      )
    )

    it.live("a wallet that somebody else made or paid into at the owner's place is passed over", () =>
      run(
        Effect.gen(function* () {
          const [owner, thief] = [Keypair.generate(), Keypair.generate()]
          const identity = { _tag: "Solana" as const, key: owner.publicKey }
          const [taken, paid] = [0, 1].map((index) => walletIdOf(tenantId, identity, index)) as [Uint8Array, Uint8Array]
          const consent = { _tag: "SignsTransaction", key: thief.publicKey } as const
          const steal = prepare({ agent: agent.key, steps: [{ _tag: "CreateWallet", id: taken, consent }], fees })
          const made = yield* executed(
            chain,
            Effect.flatMap(steal, (prepared) => signedByAgent(agent, prepared))
          )
          assert.strictEqual(made.outcome._tag, "Landed")
          chain.ledger.airdrop(walletConfig(paid).address, sol)
          const { place } = yield* enrollSolana(chain, agent, owner)
          assert.deepStrictEqual(place.walletId, walletIdOf(tenantId, identity, 2))
        })
      )
    )

    it.live("any other transaction is refused, whoever signed it: a byte changed, another message, no base64", () =>
      run(
        Effect.gen(function* () {
          const owner = Keypair.generate()
          const { flow, transaction } = yield* issued(owner.publicKey)
          const good = Buffer.from(signIssued(transaction, owner), "base64")
          const drain = new TransactionMessage({
            payerKey: agent.key,
            recentBlockhash: flow.blockhash,
            instructions: [SystemProgram.transfer({ fromPubkey: agent.key, toPubkey: owner.publicKey, lamports: sol })]
          })
          const other = new VersionedTransaction(drain.compileToV0Message())
          const texts = [
            ...[130, 140, 300, good.length - 1].map((place) => {
              const changed = Buffer.from(good)
              changed[place]! ^= 1
              return changed.toString("base64")
            }),
            Buffer.from(other.serialize()).toString("base64"),
            good.subarray(0, 100).toString("base64"),
            Buffer.concat([good, Buffer.from([0])]).toString("base64"),
            "",
            "not base64!",
            "A".repeat(100_000)
          ]
          for (const text of texts) {
            const refused = yield* Effect.flip(accept(flow, owner.publicKey, text))
            assert.deepInclude(refused, { _tag: "OwnerSignatureRefused", field: "signedSolanaTransaction" })
          }
          assert.strictEqual(chain.ledger.account(walletConfig(flow.walletId).address), undefined)
        })
      )
    )

    it.live("a transaction without the owner's own signature is refused", () =>
      run(
        Effect.gen(function* () {
          const [owner, thief] = [Keypair.generate(), Keypair.generate()]
          const { flow, transaction } = yield* issued(owner.publicKey)
          assert.match(
            (yield* Effect.flip(accept(flow, owner.publicKey, transaction))).message,
            /owner's signature is missing/
          )
          const bytes = Buffer.from(signIssued(transaction, owner), "base64")
          Buffer.from(Keypair.generate().secretKey).copy(bytes, 1 + 64)
          const forged = yield* Effect.flip(accept(flow, owner.publicKey, bytes.toString("base64")))
          assert.match(forged.message, /not valid/)
          const own = yield* Effect.flip(accept(flow, thief.publicKey, bytes.toString("base64")))
          assert.strictEqual(own._tag, "OwnerSignatureRefused")
        })
      )
    )

    it.live("an expired blockhash is refused as expired, and a new stage 1 goes on", () =>
      run(
        Effect.gen(function* () {
          const owner = Keypair.generate()
          const { flow, transaction } = yield* issued(owner.publicKey)
          chain.ledger.advance(200n)
          const expired = yield* Effect.flip(accept(flow, owner.publicKey, signIssued(transaction, owner)))
          assert.strictEqual(expired._tag, "EnrollmentExpired")
          assert.strictEqual((yield* enrollSolana(chain, agent, owner)).outcome._tag, "Landed")
        })
      )
    )

    it.live("of two flows for the same role the second is refused as superseded", () =>
      run(
        Effect.gen(function* () {
          const owner = Keypair.generate()
          const { flow, transaction } = yield* issued(owner.publicKey)
          yield* enrollSolana(chain, agent, owner)
          const overtaken = yield* Effect.flip(accept(flow, owner.publicKey, signIssued(transaction, owner)))
          assert.strictEqual(overtaken._tag, "EnrollmentOvertaken")
        })
      )
    )

    it.live("an agent cannot move what is another portfolio's", () =>
      run(
        Effect.gen(function* () {
          const [owner, other] = [Keypair.generate(), Keypair.generate()]
          const mine = yield* enrollSolana(chain, agent, owner)
          const foreign = newAgent(chain)
          const theirs = yield* enrollSolana(chain, foreign, other)
          chain.ledger.airdrop(theirs.deposit, 2n * sol)
          const to = Keypair.generate().publicKey
          const asked = moves({ id: theirs.place.walletId, roleId: 1 }, to)
          assert.strictEqual((yield* Effect.flip(acting(agent, asked)))._tag, "SimulationFailed")
          const across = moves({ id: mine.place.walletId, roleId: 1 }, to, theirs.deposit)
          const refused = yield* Effect.flip(acting(agent, across))
          assert.include(["BytesRefused", "SimulationFailed"], refused._tag)
          assert.strictEqual(lamportsOf(chain, to), 0n)
        })
      )
    )
  })

  describe("of an EVM owner", () => {
    it.live("takes one personal signature; the agent then moves what is deposited", () =>
      run(
        Effect.gen(function* () {
          const owner = newEvmWallet()
          const { deposit, outcome, place } = yield* enrollEvm(chain, agent, owner)
          assert.strictEqual(outcome._tag, "Landed")
          assert.deepStrictEqual([place.roleId, place.isReused, place.odometer], [1, false, 1])
          assert.isTrue(yield* isMade(place, agent.key))
          issue(chain.ledger, deposit, { token: usdc, amountRaw: 5n })
          const to = Keypair.generate().publicKey
          issue(chain.ledger, to, { token: usdc, amountRaw: 0n })
          const step = {
            _tag: "ActForSubAccount" as const,
            id: place.walletId,
            roleId: 1,
            inner: [
              createTransferCheckedInstruction(
                tokenAccount(usdc, deposit),
                usdc.mint,
                tokenAccount(usdc, to),
                deposit,
                5n,
                usdc.decimals
              )
            ]
          }
          const prepared = prepare({ agent: agent.key, steps: [step], fees })
          const acted = yield* executed(
            chain,
            Effect.flatMap(prepared, (one) => signedByAgent(agent, one))
          )
          assert.strictEqual(acted.outcome._tag, "Landed")
        })
      )
    )

    it.live("a reused wallet serves the odometer that the next signature must count", () =>
      run(
        Effect.gen(function* () {
          const owner = newEvmWallet()
          const first = yield* enrollEvm(chain, agent, owner)
          const second = yield* enrollEvm(chain, agent, owner)
          assert.deepStrictEqual([second.place.roleId, second.place.isReused, second.place.odometer], [2, true, 2])
          assert.isTrue(second.wallet.equals(first.wallet))
          const stored = Schema.encodeSync(WalletSubAccount)(second.place)
          assert.deepStrictEqual(Schema.decodeSync(WalletSubAccount)(JSON.parse(JSON.stringify(stored))), second.place)
        })
      )
    )

    it.live("the text is that of the Swig packages, and stage 1 shows one", () =>
      run(
        Effect.gen(function* () {
          const owner = newEvmWallet()
          const { flow, raw, slot } = yield* issueForEvmOwner({ tenantId, owner: owner.address, agent: agent.key })
          const theirs = yield* Effect.promise(() =>
            addAuthorityText({
              agent: agent.key,
              owner: Uint8Array.from(Buffer.from(owner.publicKey.slice(4), "hex")),
              id: flow.walletId,
              slot,
              odometer: 1
            })
          )
          assert.strictEqual(raw, `0x${theirs}`)
          const wallet = findSwigPda(flow.walletId)
          assert.strictEqual(agentRoleText({ agent: agent.key, wallet, slot, odometer: 1 }), theirs)
        })
      )
    )

    it.live("keys, signatures and slots that are not the owner's or not of now are refused, each by its field", () =>
      run(
        Effect.gen(function* () {
          const [owner, thief] = [newEvmWallet(), newEvmWallet()]
          const { flow } = yield* issueForEvmOwner({ tenantId, owner: owner.address, agent: agent.key })
          const slot = chain.ledger.slot
          const good = yield* signatureOf(owner, { agent: agent.key, place: flow, slot })
          const stolen = yield* signatureOf(thief, { agent: agent.key, place: flow, slot })
          const ahead = yield* signatureOf(owner, { agent: agent.key, place: flow, slot: slot + 50n })
          const counted = yield* signatureOf(owner, { agent: agent.key, place: { ...flow, odometer: 2 }, slot })
          const highS = (signature: string) => {
            const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
            const s = order - BigInt(`0x${signature.slice(66, 130)}`)
            const last = signature.endsWith("1b") ? "1c" : "1b"
            return `${signature.slice(0, 66)}${s.toString(16).padStart(64, "0")}${last}`
          }
          const words = [
            [stolen, "userSecp256k1PublicKey"],
            [{ ...good, userSecp256k1PublicKey: "0x04" }, "userSecp256k1PublicKey"],
            [{ ...good, userSecp256k1PublicKey: `0x04${"ff".repeat(64)}` }, "userSecp256k1PublicKey"],
            [{ ...good, signature: stolen.signature }, "signature"],
            [{ ...good, signature: counted.signature }, "signature"],
            [{ ...good, signature: highS(good.signature) }, "signature"],
            [{ ...good, signature: `${good.signature.slice(0, 130)}36` }, "signature"],
            [{ ...good, signature: "0x" }, "signature"],
            [{ ...good, currentSlot: slot - 1n }, "signature"],
            [ahead, "currentSlot"],
            [{ ...good, currentSlot: -1n }, "currentSlot"]
          ] as const
          for (const [word, field] of words) {
            const refused = yield* Effect.flip(acceptFromEvmOwner({ flow, owner: owner.address, agent, word, fees }))
            assert.deepInclude(refused, { _tag: "OwnerSignatureRefused", field })
          }
          assert.strictEqual(chain.ledger.account(walletConfig(flow.walletId).address), undefined)
        })
      )
    )

    it.live("a signature serves for 60 slots, then a fresh one goes on", () =>
      run(
        Effect.gen(function* () {
          const owner = newEvmWallet()
          const { flow } = yield* issueForEvmOwner({ tenantId, owner: owner.address, agent: agent.key })
          const word = yield* signatureOf(owner, { agent: agent.key, place: flow, slot: chain.ledger.slot })
          chain.ledger.advance(61n)
          const expired = yield* Effect.flip(acceptFromEvmOwner({ flow, owner: owner.address, agent, word, fees }))
          assert.strictEqual(expired._tag, "EnrollmentExpired")
          assert.strictEqual((yield* enrollEvm(chain, agent, owner)).outcome._tag, "Landed")
        })
      )
    )

    it.live("a signature that was counted already is refused as superseded", () =>
      run(
        Effect.gen(function* () {
          const owner = newEvmWallet()
          const { place, word } = yield* enrollEvm(chain, agent, owner)
          const again = yield* Effect.flip(acceptFromEvmOwner({ flow: place, owner: owner.address, agent, word, fees }))
          assert.strictEqual(again._tag, "EnrollmentOvertaken")
        })
      )
    )
  })

  it("the agent's role in the wallet's account is one sub-account and nothing else", async () => {
    const owner = Keypair.generate()
    const { wallet } = await Effect.runPromise(run(enrollSolana(chain, agent, owner)))
    const account = chain.ledger.account(wallet)!
    const state = stateIn(Option.some({ data: account.data, lamports: account.lamports, owner: swigProgram }))!
    assert.deepStrictEqual(
      state.roles.map(({ actions }) => actions.map(({ _tag }) => _tag)),
      [["All"], ["SubAccount"]]
    )
  })
})
