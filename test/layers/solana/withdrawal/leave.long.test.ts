/** The way out of docs/solana.md by one command: every portfolio of a wallet, without the service and its agent. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Keypair, type PublicKey } from "@solana/web3.js"
import { Effect } from "effect"
import { hexToBytes } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { swigProgram } from "#layers/solana/swig/addresses.ts"
import { readProgramFeatures } from "#layers/solana/withdrawal/programFeatures.ts"
import type { EvmRoot } from "#layers/solana/withdrawal/leave/OwnerKey.ts"
import { type Emulation, ProgramError } from "#sandbox/solana/Emulation.ts"
import { emulateSwig } from "#sandbox/solana/swig/Emulator.ts"
import { issueOdd, odd, type Oddity, thaw } from "#test/layers/solana/withdrawal/oddMints.ts"
import { leave } from "#layers/solana/withdrawal/leave.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { installMints, issue, issueLamports, pause, resume, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { amountIn } from "#sandbox/solana/market/splPools.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import {
  enrollEvm,
  enrollSolana,
  evmWalletOf,
  fees,
  newAgent,
  onChain,
  whileBlocksPass
} from "#test/layers/solana/owners.ts"
import { fundedKey, sol, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

const named = (symbol: string) => splCatalog.find((token) => token.symbol === symbol)!
const [tesla, coin] = [named("TSLAx"), named("SOL")]

const evmRootOf = (account: PrivateKeyAccount): EvmRoot => ({
  publicKey: hexToBytes(account.publicKey).slice(1),
  sign: (message) => account.signMessage({ message })
})

eachSwig("an owner who leaves", (start) => {
  let chain: TestChain
  beforeAll(async () => {
    chain = await start()
    installMints(chain.ledger)
  })
  afterAll(() => chain.close())

  const held = (owner: PublicKey, token: SplToken) => amountIn(chain.ledger.account(tokenAccount(token, owner))?.data)
  const leaves = (wallet: PublicKey, key: Keypair, evm?: EvmRoot) =>
    whileBlocksPass(chain)(onChain(chain)(leave({ wallet, owner: evm === undefined ? { key } : { key, evm }, fees })))

  it.live("takes SOL, dollars and a tokenized share out of all portfolios, and what is paused at the next try", () =>
    Effect.gen(function* () {
      const [agent, owner] = [newAgent(chain), Keypair.generate()]
      chain.ledger.airdrop(owner.publicKey, sol)
      const first = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      const second = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      for (const { deposit } of [first, second]) {
        issue(chain.ledger, deposit, { token: usdc, amountRaw: 5n })
        issueLamports(chain.ledger, deposit, 700n)
        issue(chain.ledger, deposit, { token: coin, amountRaw: 300n })
      }
      issue(chain.ledger, second.deposit, { token: tesla, amountRaw: 12n })
      // A stranger's token account of the owner's, which costs the owner nothing.
      const stranger = {
        ...chain.ledger.account(tokenAccount(usdc, second.deposit))!,
        key: Keypair.generate().publicKey
      }
      chain.ledger.setAccount(stranger)
      pause(chain.ledger, tesla)
      const [one, two] = yield* leaves(first.wallet, owner)
      assert.deepStrictEqual([one!.deposit, two!.deposit], [first.deposit.toBase58(), second.deposit.toBase58()])
      assert.sameMembers([...one!.taken], [usdc.assetId, coin.assetId])
      assert.deepStrictEqual(two!.stayed, [[tesla.assetId, "PAUSED, PERMANENT_DELEGATE"]])
      assert.deepStrictEqual([held(owner.publicKey, usdc), held(first.deposit, usdc)], [15n, 0n])
      for (const { deposit } of [first, second]) {
        const left = chain.ledger.account(deposit)!.lamports
        assert.strictEqual(left, chain.ledger.rentOf(0) + chain.ledger.rentOf(165))
      }
      resume(chain.ledger, tesla)
      const again = yield* leaves(first.wallet, owner)
      assert.include(again[1]!.taken, tesla.assetId)
      assert.strictEqual(held(owner.publicKey, tesla), 12n)
    })
  )

  it.live("is told where the wallet is none, or is somebody else's", () =>
    Effect.gen(function* () {
      const [agent, owner, other] = [newAgent(chain), Keypair.generate(), Keypair.generate()]
      chain.ledger.airdrop(other.publicKey, sol)
      const { deposit, wallet } = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      assert.match((yield* Effect.flip(leaves(deposit, owner))).message, /is no Swig wallet/)
      const refused = yield* Effect.flip(leaves(wallet, other))
      assert.match(refused.message, /is another key than the owner's/)
    })
  )

  it.live("takes everything of an owner with an EVM wallet to the Solana key that pays", () =>
    Effect.gen(function* () {
      const account = privateKeyToAccount(generatePrivateKey())
      const [agent, payer] = [newAgent(chain), fundedKey(chain)]
      const { deposit, wallet } = yield* onChain(chain)(enrollEvm(chain, agent, evmWalletOf(account)))
      for (const token of [usdc, tesla]) issue(chain.ledger, deposit, { token, amountRaw: 12n })
      issueLamports(chain.ledger, deposit, 700n)
      const [left, ...others] = yield* leaves(wallet, payer, evmRootOf(account))
      assert.isEmpty(others)
      assert.sameMembers([...left!.taken], [usdc.assetId, tesla.assetId, coin.assetId])
      assert.deepStrictEqual([held(payer.publicKey, usdc), held(payer.publicKey, tesla)], [12n, 12n])
      assert.strictEqual(chain.ledger.account(deposit)!.lamports, chain.ledger.rentOf(0))
      const stranger = privateKeyToAccount(generatePrivateKey())
      const refused = yield* Effect.flip(leaves(wallet, payer, evmRootOf(stranger)))
      assert.match(refused.message, /is another key than the owner's/)
    })
  )

  it.live.each(Object.keys(odd) as ReadonlyArray<Oddity>)("takes out a token whose mint has %s", (oddity) =>
    Effect.gen(function* () {
      const [agent, owner] = [newAgent(chain), Keypair.generate()]
      chain.ledger.airdrop(owner.publicKey, sol)
      const { deposit, wallet } = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      const { accountOf, assetId, mint } = issueOdd(chain.ledger, oddity, deposit)
      const kept = () => amountIn(chain.ledger.account(accountOf(owner.publicKey))?.data)
      if (oddity === "accounts that start frozen") {
        const [frozen] = yield* leaves(wallet, owner)
        const [[asset, reason] = []] = frozen!.stayed
        assert.strictEqual(asset, assetId)
        assert.include(reason, `ask it to thaw ${accountOf(owner.publicKey).toBase58()}`)
        thaw(chain.ledger, mint, accountOf(owner.publicKey))
      }
      const [left] = yield* leaves(wallet, owner)
      assert.deepStrictEqual(left!.stayed, [])
      assert.deepStrictEqual(left!.taken, [assetId])
      // A fee of one percent is rounded up.
      assert.strictEqual(kept(), oddity === "a transfer fee of one percent" ? 11n : 12n)
    })
  )
})

describe("an owner who leaves a program of before August 2026", () => {
  /** Numbers that it does not have are the making of a wallet to it. */
  const older: Emulation = (instruction, context) => {
    if (instruction.data.readUInt16LE(0) > 15) throw new ProgramError(20, "its data is too short")
    return emulateSwig(instruction, context)
  }
  let chain: TestChain
  beforeAll(async () => {
    chain = await startTestChain({ emulations: new Map([[swigProgram.toBase58(), older]]) })
    installMints(chain.ledger)
  })
  afterAll(() => chain.close())

  const held = (owner: PublicKey, token: SplToken) => amountIn(chain.ledger.account(tokenAccount(token, owner))?.data)
  const run = Effect.fnUntraced(function* (
    { deposit, wallet }: { readonly wallet: PublicKey; readonly deposit: PublicKey },
    key: Keypair,
    evm?: EvmRoot
  ) {
    for (const token of [usdc, tesla, coin]) issue(chain.ledger, deposit, { token, amountRaw: 12n })
    issueLamports(chain.ledger, deposit, 700n)
    const owner = evm === undefined ? { key } : { key, evm }
    const [left] = yield* whileBlocksPass(chain)(onChain(chain)(leave({ wallet, owner, fees })))
    assert.sameMembers([...left!.taken], [usdc.assetId, coin.assetId])
    const [[asset, reason] = []] = left!.stayed
    assert.strictEqual(asset, tesla.assetId, JSON.stringify(left!.stayed))
    assert.match(reason!, /it names no mint/)
    assert.deepStrictEqual([held(key.publicKey, usdc), held(deposit, coin)], [12n, 0n])
    assert.isUndefined(chain.ledger.account(tokenAccount(coin, key.publicKey)), "what was wrapped arrives as lamports")
    assert.strictEqual(chain.ledger.account(deposit)!.lamports, chain.ledger.rentOf(0))
  })

  it.live("takes what its own withdrawal moves, and names what it does not", () =>
    Effect.gen(function* () {
      const [agent, owner] = [newAgent(chain), Keypair.generate()]
      chain.ledger.airdrop(owner.publicKey, sol)
      const features = yield* onChain(chain)(readProgramFeatures(owner.publicKey))
      assert.deepStrictEqual(features, { replacesKeys: false, hasScopedSubAccounts: false })
      const { deposit, wallet } = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      yield* run({ wallet, deposit }, owner)
    })
  )

  it.live("with an EVM wallet as well, by two of its signatures for each", () =>
    Effect.gen(function* () {
      const account = privateKeyToAccount(generatePrivateKey())
      const [agent, payer] = [newAgent(chain), fundedKey(chain)]
      const { deposit, wallet } = yield* onChain(chain)(enrollEvm(chain, agent, evmWalletOf(account)))
      yield* run({ wallet, deposit }, payer, evmRootOf(account))
    })
  )
})
