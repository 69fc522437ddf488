/** Numbers in layouts of Solana, by the package of ours that stands in for `bigint-buffer`. */
import { assert, describe, it } from "@effect/vitest"
import { AccountLayout, MintLayout } from "@solana/spl-token"
import { PublicKey } from "@solana/web3.js"
import * as fc from "fast-check"
import { createRequire } from "node:module"
import { realpathSync } from "node:fs"
import { join } from "node:path"

const require = createRequire(import.meta.url)
const { toBigIntBE, toBigIntLE, toBufferBE, toBufferLE } = require("bigint-buffer") as {
  readonly toBigIntBE: (bytes: Buffer) => bigint
  readonly toBigIntLE: (bytes: Buffer) => bigint
  readonly toBufferBE: (number: bigint, width: number) => Buffer
  readonly toBufferLE: (number: bigint, width: number) => Buffer
}

/** Bytes by the platform's own, which are another program. */
const littleEndian = (number: bigint, width: number) =>
  Buffer.from(Array.from({ length: width }, (_, index) => Number((number >> BigInt(8 * index)) & 0xffn)))

describe("numbers of layouts", () => {
  it("are read and written without native code", () => {
    const loaded = realpathSync(require.resolve("bigint-buffer"))
    assert.strictEqual(loaded, join(import.meta.dirname, "../../../layers/solana/plain-bigints/index.cjs"))
  })

  it("of any width are the bytes of the platform, in both orders, and back", () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.bigInt({ min: 0n, max: 2n ** 320n }), (width, drawn) => {
        const number = BigInt.asUintN(8 * width, drawn)
        const bytes = littleEndian(number, width)
        assert.deepStrictEqual([...toBufferLE(number, width)], [...bytes])
        assert.deepStrictEqual([...toBufferBE(number, width)], [...bytes].toReversed())
        assert.strictEqual(toBigIntLE(bytes), number)
        assert.strictEqual(toBigIntBE(Buffer.from([...bytes].toReversed())), number)
        assert.deepStrictEqual([...bytes], [...littleEndian(number, width)], "the caller's bytes stay")
      })
    ))

  it("of no bytes are 0, and what does not fit is refused", () => {
    assert.deepStrictEqual([toBigIntLE(Buffer.alloc(0)), toBigIntBE(Buffer.alloc(0))], [0n, 0n])
    assert.throws(() => toBufferLE(256n, 1), RangeError)
    assert.throws(() => toBufferBE(-1n, 8), RangeError)
  })

  it("of token accounts and mints stand where the token program has them", () => {
    const key = new PublicKey(Buffer.alloc(32, 7))
    const amount = 2n ** 64n - 2n
    const account = Buffer.alloc(AccountLayout.span)
    const fields = { mint: key, owner: key, delegateOption: 0, delegate: key, state: 1, isNativeOption: 1 } as const
    const rest = { isNative: 5n, delegatedAmount: 9n, closeAuthorityOption: 0, closeAuthority: key } as const
    AccountLayout.encode({ ...fields, ...rest, amount }, account)
    assert.deepStrictEqual(
      [account.readBigUInt64LE(64), account.readBigUInt64LE(113), account.readBigUInt64LE(121)],
      [amount, 5n, 9n]
    )
    assert.strictEqual(AccountLayout.decode(account).amount, amount)
    const mint = Buffer.alloc(MintLayout.span)
    const authority = { mintAuthorityOption: 1, mintAuthority: key, freezeAuthorityOption: 0, freezeAuthority: key }
    MintLayout.encode({ ...authority, supply: 1_000_000_007n, decimals: 6, isInitialized: true } as never, mint)
    assert.strictEqual(mint.readBigUInt64LE(36), 1_000_000_007n)
    assert.strictEqual(MintLayout.decode(mint).supply, 1_000_000_007n)
  })
})
