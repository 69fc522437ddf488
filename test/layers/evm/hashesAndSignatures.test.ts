/** Hashes, signatures and readings of logs that do without viem's slow paths, against viem. */
import * as fc from "fast-check"
import { Effect, Redacted } from "effect"
import {
  encodeAbiParameters,
  encodeEventTopics,
  erc20Abi,
  type Hex,
  keccak256 as viemKeccak256,
  type Log,
  pad,
  parseEventLogs,
  recoverAddress
} from "viem"
import { getUserOperationHash, type UserOperation } from "viem/account-abstraction"
import { privateKeyToAddress, sign } from "viem/accounts"
import { assert, describe, it } from "vitest"
import { ChainId, erc20, EvmAccountId, EvmAddress } from "#domain/values/Caip.ts"
import { fromViem } from "#layers/evm/address.ts"
import { entryPoint } from "#layers/evm/contracts.ts"
import { operationHash } from "#layers/evm/execution/agentOperation.ts"
import { netTransfers } from "#layers/evm/execution/operationOutcome.ts"
import { keccak256 } from "#layers/evm/signer/keccak.ts"
import { addressOfKey, localSigner } from "#layers/evm/signer/localSigner.ts"

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`
const bytes = (minLength: number, maxLength = minLength) => fc.uint8Array({ minLength, maxLength }).map(hexOf)
const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })
/** What secp256k1 has as a key, the first and the last of them included. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const key = fc
  .oneof(fc.constantFrom(1n, order - 1n), fc.bigInt({ min: 1n, max: order - 1n }))
  .map((number) => pad(`0x${number.toString(16)}`, { size: 32 }))

describe("keccak256", () => {
  it("is viem's, for any bytes", () => {
    fc.assert(
      fc.property(bytes(0, 3_000), (data) => {
        assert.strictEqual(keccak256(data), viemKeccak256(data))
      })
    )
  })

  it.each(["0x1", "0xzz", "0x12zz", "12zz"])("takes no %j", (text) => {
    assert.throws(() => keccak256(text as Hex), /whole bytes in hex/u)
  })
})

describe("a key that the process holds", () => {
  it("signs as viem does, to the last bit, and is recovered from its signature", async () => {
    await fc.assert(
      fc.asyncProperty(key, bytes(32), async (privateKey, hash) => {
        const signer = localSigner(Redacted.make(privateKey))
        const signature = await Effect.runPromise(
          signer.sign(hash, { kind: "transaction", chainId: ChainId.make(8453), unsigned: "0x" })
        )
        assert.strictEqual(signature, await sign({ hash, privateKey, to: "hex" }))
        assert.strictEqual(await recoverAddress({ hash, signature: signature as Hex }), privateKeyToAddress(privateKey))
        assert.strictEqual(addressOfKey(Redacted.make(privateKey)), fromViem(privateKeyToAddress(privateKey)))
      }),
      { numRuns: 50 }
    )
  })

  it.each(["0x", "0x12", `0x${"zz".repeat(32)}`])("signs no digest %j", async (digest) => {
    const signer = localSigner(Redacted.make(`0x${"11".repeat(32)}`))
    const asked = signer.sign(digest, { kind: "transaction", chainId: ChainId.make(8453), unsigned: "0x" })
    assert.strictEqual((await Effect.runPromiseExit(asked))._tag, "Failure")
  })
})

describe("the hash of a user operation", () => {
  const operation = fc.record({
    sender: bytes(20),
    nonce: uint(256),
    callData: bytes(0, 500),
    deployment: fc.option(fc.record({ factory: bytes(20), factoryData: bytes(0, 100) }), { nil: undefined }),
    callGasLimit: uint(128),
    verificationGasLimit: uint(128),
    preVerificationGas: uint(256),
    maxFeePerGas: uint(128),
    maxPriorityFeePerGas: uint(128)
  })

  it("is viem's, for any operation", () => {
    fc.assert(
      fc.property(operation, uint(32), ({ deployment, ...fields }, chainId) => {
        const userOperation: UserOperation<"0.7"> = { ...fields, ...deployment, signature: "0x" }
        const expected = getUserOperationHash({
          userOperation,
          chainId: Number(chainId),
          entryPointAddress: entryPoint,
          entryPointVersion: "0.7"
        })
        assert.strictEqual(operationHash(userOperation, Number(chainId) as ChainId), expected)
      })
    )
  })
})

describe("what an account's transfers come to", () => {
  const account = `0x${"aa".repeat(20)}` as const
  const accountId = EvmAccountId.make(`eip155:8453:${EvmAddress.make(account)}`)
  const address = fc.constantFrom<Hex>(account, `0x${"bb".repeat(20)}`, `0x${"cc".repeat(20)}`)
  const token = fc.constantFrom<Hex>(`0x${"11".repeat(20)}`, `0x${"22".repeat(20)}`)
  const log = (token: Hex, topics: ReadonlyArray<Hex>, data: Hex) =>
    ({ address: token, topics, data }) as unknown as Log
  const transfer = fc
    .record({ token, from: address, to: address, value: uint(256) })
    .map(({ from, to, token, value }) =>
      log(
        token,
        encodeEventTopics({ abi: erc20Abi, eventName: "Transfer", args: { from, to } }) as Array<Hex>,
        encodeAbiParameters([{ type: "uint256" }], [value])
      )
    )
  const [selector] = encodeEventTopics({ abi: erc20Abi, eventName: "Transfer" }) as [Hex]
  /** Transfers as other standards and broken tokens log them, and what a faulty node may answer. */
  const odd = fc
    .record({
      token,
      topics: fc.array(fc.oneof(bytes(32), fc.constant(pad(account))), { maxLength: 3 }),
      data: bytes(0, 40)
    })
    .map(({ data, token, topics }) => log(token, [selector, ...topics], data))

  const byViem = (logs: ReadonlyArray<Log>) => {
    const net = new Map<string, bigint>()
    for (const { address, args } of parseEventLogs({ abi: erc20Abi, eventName: "Transfer", logs: [...logs] })) {
      const id = erc20(ChainId.make(8453), fromViem(address))
      if (args.to.toLowerCase() === account) net.set(id, (net.get(id) ?? 0n) + args.value)
      if (args.from.toLowerCase() === account) net.set(id, (net.get(id) ?? 0n) - args.value)
    }
    return new Map([...net].filter(([, raw]) => raw !== 0n))
  }

  it("is the same as by viem's decoding, whatever else is in the logs", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(transfer, transfer, odd), { maxLength: 12 }), (logs) => {
        const net = new Map(netTransfers({ logs: logs as never }, accountId).map(({ assetId, raw }) => [assetId, raw]))
        assert.deepStrictEqual(net, byViem(logs) as never)
      }),
      { numRuns: 500 }
    )
  })
})
