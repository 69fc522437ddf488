/** The Solana chain of a running world, by what clients of a node use, and by the control API. */
import {
  Connection,
  Keypair,
  type PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction
} from "@solana/web3.js"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { solanaChainId, solanaReference } from "#domain/values/Caip.ts"
import { splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { newInstance, startWorld, type TestWorld } from "#test/sandbox/startWorld.ts"
import { destroy, overview, type Refusal } from "#test/sandbox/worldCalls.ts"

let world: TestWorld
const connect = () => new Connection(`http://127.0.0.1:${world.instance.control}/rpc/${solanaChainId}`, "confirmed")

beforeAll(async () => {
  world = await startWorld(await newInstance(mkdtempSync(join(tmpdir(), "ballast-world-"))))
  assert.include(world.output(), "is ready")
})
afterAll(() => destroy(world))

const tesla = splCatalog.find(({ symbol }) => symbol === "TSLAx")!
const accountOf = (key: PublicKey) => `solana:${solanaReference}:${key.toBase58()}`
const give = (owner: PublicKey, amountRaw: string, assetId: string = usdc.assetId) =>
  world.post<{ txHash: string }>("/faucet", { accountId: accountOf(owner), assetId, amountRaw })
const build = (amount: bigint, slippageBps = 50) =>
  world.get<{ outAmount: string }>(
    `/jupiter/swap/v2/build?inputMint=${usdc.mint.toBase58()}&outputMint=${tesla.mint.toBase58()}` +
      `&amount=${amount}&taker=${usdc.mint.toBase58()}&slippageBps=${slippageBps}`
  )

describe("the Solana chain of a world", () => {
  it("is listed with its tokens, and says that Swig is emulated", async () => {
    const chain = (await overview(world)).chains.find(({ chainId }) => chainId === solanaChainId)
    assert.deepInclude(chain, { namespace: "solana", swig: "emulated" })
    assert.deepStrictEqual(
      chain!.assets.map(({ symbol }) => symbol),
      splCatalog.map(({ symbol }) => symbol)
    )
    assert.strictEqual((await connect().getGenesisHash()).slice(0, 32), solanaReference)
  })

  it("gives tokens to any account, and refuses accounts of other chains, naming the field", async () => {
    const owner = Keypair.generate().publicKey
    assert.strictEqual((await give(owner, "1500000")).status, 200)
    const { value } = await connect().getTokenAccountBalance(tokenAccount(usdc, owner))
    assert.strictEqual(value.amount, "1500000")
    const wrong = await world.post<Refusal>("/faucet", {
      accountId: "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7",
      assetId: usdc.assetId,
      amountRaw: "1"
    })
    assert.strictEqual(wrong.status, 400)
    assert.match(wrong.body.error.details[0]!, /^accountId: The asset is on Solana/)
    assert.strictEqual((await give(owner, "100000000000000001")).status, 400)
  })

  it("makes blocks by itself", async () => {
    const connection = connect()
    const before = await connection.getSlot()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    assert.isAbove(await connection.getSlot(), before)
  })

  it("a price that is moved is the pool's, and time that is moved is the chain's", async () => {
    const before = BigInt((await build(1_000_000n)).body.outAmount)
    await world.post("/prices", { assetId: tesla.assetId, priceUsd: "800" })
    const after = BigInt((await build(1_000_000n)).body.outAmount)
    assert.approximately(Number(after) / Number(before), 0.5, 0.001)

    const connection = connect()
    const { blockhash } = await connection.getLatestBlockhash()
    await world.post("/clock/advance", { ms: 86_400_000 })
    assert.isFalse((await connection.isBlockhashValid(blockhash)).value)
  })

  it.each([
    ["lost", false],
    ["late", true]
  ] as const)("a transaction that is %s is answered; whether it lands later: %s", async (mode, lands) => {
    const connection = connect()
    const payer = Keypair.generate()
    await give(payer.publicKey, "2000000000", `solana:${solanaReference}/slip44:501`)
    const { blockhash } = await connection.getLatestBlockhash()
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions: [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: usdc.mint, lamports: 0 })]
    }).compileToV0Message()
    const transaction = new VersionedTransaction(message)
    transaction.sign([payer])
    await world.post("/faults", { target: "landing", mode, count: 1 })
    const signature = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
    assert.isNull((await connection.getSignatureStatus(signature)).value)
    await world.post("/clock/advance", { ms: 40 * 400 })
    const { value } = await connection.getSignatureStatus(signature)
    assert.strictEqual(value !== null, lands)
  })

  it("refuses swaps as Jupiter does, and fails as it is set to", async () => {
    const unknown = await world.get<{ errorCode: string }>(
      `/jupiter/swap/v2/build?inputMint=${usdc.mint.toBase58()}&outputMint=${Keypair.generate().publicKey.toBase58()}` +
        `&amount=1&taker=${usdc.mint.toBase58()}`
    )
    assert.deepStrictEqual([unknown.status, unknown.body.errorCode], [400, "TOKEN_NOT_TRADABLE"])
    assert.strictEqual((await build(1n, 10_001)).status, 400)
    assert.strictEqual((await world.post("/faults", { target: "jupiter", mode: "rate-limited", count: 1 })).status, 200)
    assert.strictEqual((await build(1_000n)).status, 429)
    assert.strictEqual((await build(1_000n)).status, 200)
    await world.post("/faults", { target: `rpc:${solanaChainId}`, mode: "error", count: 1 })
    const failed = await connect()
      .getSlot()
      .catch((error: Error) => error.message)
    assert.include(failed, "500")
    assert.strictEqual((await world.post("/faults", { target: "landing", mode: "down" })).status, 400)
  })

  it("is found as it was after a restart, prices and balances included", async () => {
    const owner = Keypair.generate().publicKey
    await give(owner, "42", tesla.assetId)
    const { outAmount } = (await build(1_000_000n)).body
    world.supervisor.kill("SIGTERM")
    await world.ended
    world = await startWorld(world.instance)
    const { value } = await connect().getTokenAccountBalance(tokenAccount(tesla, owner))
    assert.strictEqual(value.amount, "42")
    assert.strictEqual((await build(1_000_000n)).body.outAmount, outAmount)
    const listed = (await overview(world)).chains.at(-1)!.assets.find(({ symbol }) => symbol === "TSLAx")!
    assert.strictEqual(listed.priceUsd, "800")
  })
})
