import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { AddressLookupTableProgram, Keypair, NONCE_ACCOUNT_LENGTH, NonceAccount, SystemProgram } from "@solana/web3.js"
import { createSolanaRpc, address } from "@solana/kit"
import { Ledger } from "#sandbox/solana/Ledger.ts"
import {
  fundedKey,
  lamportsOf,
  land,
  signed,
  sol,
  startTestChain,
  type TestChain
} from "#test/sandbox/solana/support.ts"

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain()
})
afterAll(() => chain.close())

const transfer = (from: Keypair, to: Keypair, lamports: bigint) =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports })

const statusOf = async (signature: string) => (await chain.connection.getSignatureStatus(signature)).value
const send = (bytes: Uint8Array, skipPreflight = true) => chain.connection.sendRawTransaction(bytes, { skipPreflight })
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail("expected a refusal"),
    (error: Error) => error.message
  )

describe("what lands and what does not", () => {
  it("a bad signature never lands and costs nothing, though the node answers a signature", async () => {
    const [payer, to] = [fundedKey(chain), Keypair.generate()]
    const bytes = (await signed(chain, [transfer(payer, to, sol)], [payer])).serialize()
    bytes[5]! ^= 1
    const signature = await send(bytes)
    chain.ledger.advance(40n)
    assert.isNull(await statusOf(signature))
    assert.strictEqual(lamportsOf(chain, payer.publicKey), 10n * sol)
    assert.match(await refusal(send(bytes, false)), /signature verification failure/)
  })

  it("a payer without funds never lands", async () => {
    const [payer, to] = [Keypair.generate(), Keypair.generate()]
    const signature = await send((await signed(chain, [transfer(payer, to, 1n)], [payer])).serialize())
    assert.isNull(await statusOf(signature))
  })

  it("an instruction's error lands and takes the fee", async () => {
    const [payer, to] = [fundedKey(chain), Keypair.generate()]
    const { error } = await land(chain, [transfer(payer, to, 100n * sol)], [payer])
    assert.deepStrictEqual(error, { InstructionError: [0, { Custom: 1 }] })
    assert.strictEqual(lamportsOf(chain, payer.publicKey), 10n * sol - 5_000n)
  })

  it("the same bytes have one effect, however often they are sent", async () => {
    const [payer, to] = [fundedKey(chain), Keypair.generate()]
    const bytes = (await signed(chain, [transfer(payer, to, sol)], [payer])).serialize()
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(bytes)))
    assert.strictEqual(new Set(answers).size, 1)
    assert.strictEqual(lamportsOf(chain, to.publicKey), sol)
    assert.match(await refusal(send(bytes, false)), /already been processed/)
  })

  it("a dropped transaction is answered and lost; the same bytes sent again land", async () => {
    const [payer, to] = [fundedKey(chain), Keypair.generate()]
    const bytes = (await signed(chain, [transfer(payer, to, sol)], [payer])).serialize()
    chain.fate = "dropped"
    const signature = await send(bytes)
    chain.fate = "ok"
    chain.ledger.advance(30n)
    chain.intake.release()
    assert.isNull(await statusOf(signature))
    assert.strictEqual(await send(bytes), signature)
    assert.strictEqual((await statusOf(signature))?.err, null)
  })

  it("a late transaction lands by itself, after the sender may have given up", async () => {
    const [payer, to] = [fundedKey(chain), Keypair.generate()]
    chain.fate = "late"
    const signature = await send((await signed(chain, [transfer(payer, to, sol)], [payer])).serialize())
    chain.fate = "ok"
    assert.isNull(await statusOf(signature))
    chain.ledger.advance(20n)
    chain.intake.release()
    assert.strictEqual((await statusOf(signature))?.err, null)
    assert.strictEqual(lamportsOf(chain, to.publicKey), sol)
  })

  it("a late transaction whose blockhash has expired meanwhile never lands", async () => {
    const [payer, to] = [fundedKey(chain), Keypair.generate()]
    chain.fate = "late"
    const signature = await send((await signed(chain, [transfer(payer, to, sol)], [payer])).serialize())
    chain.fate = "ok"
    chain.ledger.advance(200n)
    chain.intake.release()
    assert.isNull(await statusOf(signature))
    assert.strictEqual(lamportsOf(chain, to.publicKey), 0n)
  })
})

describe("blocks", () => {
  it("a blockhash is good up to its last valid height and not one block longer", async () => {
    const [payer, to] = [fundedKey(chain), Keypair.generate()]
    const { blockhash, lastValidBlockHeight } = await chain.connection.getLatestBlockhash()
    const [first, second] = await Promise.all(
      [1n, 2n].map((amount) => signed(chain, [transfer(payer, to, amount * sol)], [payer]))
    )
    assert.strictEqual(first!.message.recentBlockhash, blockhash)
    chain.ledger.advance(BigInt(lastValidBlockHeight) - chain.ledger.blockHeight)
    assert.strictEqual((await statusOf(await send(first!.serialize())))?.err, null)
    assert.isAbove(await chain.connection.getBlockHeight(), lastValidBlockHeight)
    assert.isNull(await statusOf(await send(second!.serialize())))
    assert.match(await refusal(send(second!.serialize(), false)), /Blockhash not found/)
  })

  it("confirmed at once, final after 32 slots, and forgotten after 300 unless the history is searched", async () => {
    const [payer, to] = [fundedKey(chain), Keypair.generate()]
    const { signature } = await land(chain, [transfer(payer, to, sol)], [payer])
    assert.strictEqual((await statusOf(signature))?.confirmationStatus, "confirmed")
    chain.ledger.advance(32n)
    assert.strictEqual((await statusOf(signature))?.confirmationStatus, "finalized")
    chain.ledger.advance(300n)
    assert.isNull(await statusOf(signature))
    const found = await chain.connection.getSignatureStatus(signature, { searchTransactionHistory: true })
    assert.strictEqual(found.value?.confirmationStatus, "finalized")
  })

  it("a durable nonce outlives blockhashes and serves once", async () => {
    const [payer, to, nonce] = [fundedKey(chain), Keypair.generate(), Keypair.generate()]
    const create = SystemProgram.createNonceAccount({
      fromPubkey: payer.publicKey,
      noncePubkey: nonce.publicKey,
      authorizedPubkey: payer.publicKey,
      lamports: await chain.connection.getMinimumBalanceForRentExemption(NONCE_ACCOUNT_LENGTH)
    })
    await land(chain, create.instructions, [payer, nonce])
    const stored = async () =>
      NonceAccount.fromAccountData((await chain.connection.getAccountInfo(nonce.publicKey))!.data).nonce
    const before = await stored()
    const advance = SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: payer.publicKey })
    const transaction = await signed(chain, [advance, transfer(payer, to, sol)], [payer])
    transaction.message.recentBlockhash = before
    transaction.sign([payer])
    chain.ledger.advance(300n)
    assert.strictEqual((await statusOf(await send(transaction.serialize())))?.err, null)
    assert.notStrictEqual(await stored(), before)
    assert.strictEqual(lamportsOf(chain, to.publicKey), sol)
  })

  it("lookup tables are created by a recent slot", async () => {
    const payer = fundedKey(chain)
    const [create] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: (await chain.connection.getSlot()) - 1
    })
    assert.isNull((await land(chain, [create], [payer])).error)
  })
})

describe("the node's interface", () => {
  it("1233 bytes are refused, and unknown methods are named", async () => {
    assert.match(await refusal(send(new Uint8Array(1_233))), /too large: 1233 bytes/)
    const response = await fetch(chain.url, { method: "POST", body: `{"jsonrpc":"2.0","id":1,"method":"getBlock"}` })
    assert.deepStrictEqual(await response.json(), {
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32601, message: "Method not found: getBlock" }
    })
  })

  it("both clients read it", async () => {
    const payer = fundedKey(chain)
    const rpc = createSolanaRpc(chain.url)
    assert.strictEqual((await rpc.getBalance(address(payer.publicKey.toBase58())).send()).value, 10n * sol)
    assert.strictEqual(BigInt(await chain.connection.getSlot()), await rpc.getSlot().send())
    assert.strictEqual((await chain.connection.getVersion())["solana-core"], "3.0.0")
    assert.isAbove((await chain.connection.getRecentPrioritizationFees()).length, 0)
  })

  it("bodies that are not JSON-RPC are answered, never dropped", async () => {
    for (const body of ["", "{", "[]", "7", "null", `{"method":1}`, `[{"method":"getSlot","params":{}}]`, `"x"`]) {
      const response = await fetch(chain.url, { method: "POST", body })
      assert.strictEqual(response.status, 200)
      await response.json()
    }
  })

  it("a chain that was saved goes on with its accounts and its slots", async () => {
    const payer = fundedKey(chain)
    const restored = new Ledger({ now: () => 1n, emulations: new Map() }, chain.ledger.save())
    assert.strictEqual(restored.account(payer.publicKey)?.lamports, 10n * sol)
    assert.isAtLeast(Number(restored.slot), Number(chain.ledger.slot))
  })
})
