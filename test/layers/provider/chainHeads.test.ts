/** How far a chain was seen to be, and which of its endpoints are behind that. */
import { assert, describe, it } from "@effect/vitest"
import { ChainHeads } from "#layers/provider/chainHeads.ts"

const seconds = (count: number): bigint => BigInt(count) * 1_000_000_000n

describe("the heads of a chain", () => {
  it("what was shown three seconds ago is due from every endpoint, and nothing is before that", () => {
    const heads = new ChainHeads(2)
    heads.judge({ position: 0, block: 100n, askedAt: 0n }, 0n)
    assert.deepStrictEqual([heads.due(seconds(2)), heads.due(seconds(3))], [0n, 100n])
    assert.strictEqual(heads.judge({ position: 1, block: 98n, askedAt: seconds(4) }, seconds(4)).least, 100n)
    assert.deepStrictEqual(
      heads.heads(seconds(5)).map(({ blocksBehind }) => blocksBehind),
      [0n, 2n]
    )
  })

  it("a slow answer is held against what was known when it was asked for", () => {
    const heads = new ChainHeads(2)
    heads.judge({ position: 0, block: 100n, askedAt: 0n }, 0n)
    assert.strictEqual(heads.judge({ position: 1, block: 98n, askedAt: seconds(1) }, seconds(9)).least, 0n)
  })

  it("endpoints that are compared are behind at once, by the times of their blocks", () => {
    const heads = new ChainHeads(3)
    heads.compare(
      [
        { position: 0, block: 97n, time: 1_000n, askedAt: 0n },
        { position: 1, block: 100n, time: 1_004n, askedAt: 0n },
        { position: 2, block: 99n, time: 1_002n, askedAt: 0n }
      ],
      1n
    )
    assert.deepStrictEqual(
      heads.heads(2n).map(({ blocksBehind }) => blocksBehind),
      [3n, 0n, 0n]
    )
    assert.strictEqual(heads.judge({ position: 0, block: 97n, time: 1_000n, askedAt: 2n }, 3n).minForAll, 100n)
  })

  it("of blocks of one second the higher is asked for first, and the lower is not behind", () => {
    const heads = new ChainHeads(2)
    heads.compare(
      [
        { position: 0, block: 98n, time: 1_000n, askedAt: 0n },
        { position: 1, block: 100n, time: 1_000n, askedAt: 0n }
      ],
      1n
    )
    assert.deepStrictEqual([heads.rank(0, 2n), heads.rank(1, 2n), heads.isBehind(0, 2n)], [1, 0, false])
  })

  it("one block is no difference, however seldom blocks come", () => {
    const heads = new ChainHeads(2)
    heads.compare(
      [
        { position: 0, block: 99n, time: 1_000n, askedAt: 0n },
        { position: 1, block: 100n, time: 1_012n, askedAt: 0n }
      ],
      1n
    )
    assert.strictEqual(heads.rank(0, 2n), 0)
  })

  it("an endpoint is behind its own earlier answers too", () => {
    const heads = new ChainHeads(1)
    heads.judge({ position: 0, block: 100n, askedAt: 0n }, 0n)
    heads.judge({ position: 0, block: 75n, askedAt: seconds(5) }, seconds(5))
    assert.isTrue(heads.isBehind(0, seconds(6)))
  })

  it("one that follows again counts as behind for ten seconds after its last old answer", () => {
    const heads = new ChainHeads(1)
    heads.judge({ position: 0, block: 100n, askedAt: 0n }, 0n)
    heads.judge({ position: 0, block: 75n, askedAt: seconds(5) }, seconds(5))
    heads.judge({ position: 0, block: 101n, askedAt: seconds(6) }, seconds(6))
    assert.deepStrictEqual([heads.isBehind(0, seconds(14)), heads.isBehind(0, seconds(15))], [true, false])
  })

  it("what nobody has shown again for two minutes is due no more", () => {
    const heads = new ChainHeads(2)
    heads.judge({ position: 0, block: 1_000_000n, askedAt: 0n }, 0n)
    for (let at = 10; at <= 120; at += 10) heads.judge({ position: 1, block: 100n, askedAt: seconds(at) }, seconds(at))
    assert.strictEqual(heads.due(seconds(120)), 1_000_000n)
    heads.judge({ position: 1, block: 100n, askedAt: seconds(121) }, seconds(121))
    assert.strictEqual(heads.due(seconds(124)), 100n)
  })

  it("the block of a recorded receipt is due at once, once a node has shown that it is there", () => {
    const heads = new ChainHeads(2)
    heads.judge({ position: 0, block: 90n, askedAt: 0n, notBefore: 100n }, 0n)
    assert.deepStrictEqual([heads.due(1n), heads.isBehind(0, 1n)], [0n, true])
    heads.judge({ position: 1, block: 101n, askedAt: 2n, notBefore: 100n }, 2n)
    assert.strictEqual(heads.due(3n), 100n)
  })

  it("many blocks in a short time leave it bounded, and what is due keeps rising", () => {
    const heads = new ChainHeads(1)
    for (let block = 0n; block < 10_000n; block++) {
      const at = block * 10_000_000n
      heads.judge({ position: 0, block, askedAt: at }, at)
    }
    assert.isAbove(Number(heads.due(seconds(100))), 9_000)
  })

  it("an old block that another endpoint shows as the latest is the chain's, not the node's", () => {
    const heads = new ChainHeads(2)
    heads.judge({ position: 0, block: 100n, askedAt: 0n }, 0n)
    assert.isFalse(heads.isWitnessed(0, 100n, 1n))
    heads.judge({ position: 1, block: 100n, askedAt: 2n }, 2n)
    assert.isTrue(heads.isWitnessed(0, 100n, 3n))
    heads.judge({ position: 1, block: 101n, askedAt: 4n }, 4n)
    assert.isFalse(heads.isWitnessed(0, 100n, 5n))
  })
})
