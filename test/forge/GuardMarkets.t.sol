// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {RegistryChanges} from "../../contracts/RegistryChanges.sol";
import {LossBudget} from "../../contracts/LossBudget.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {GuardFixture} from "./GuardFixture.sol";

/// @title What a thief gets who sees the market and the feeds, which are only as near to it as their bands
/// @notice The market walks at random and jumps. A feed is written anew when the market leaves its band, or after its
/// heartbeat. In between, the thief lets the account sell at the feed's price to a pool of his own when the market pays
/// more, and buy when it pays less: no trade loses anything by the feeds.
contract GuardMarketsTest is GuardFixture {
    uint256 private constant MINUTES = 7 * 1_440;
    uint256 private constant USD_BAND = 25;

    uint256 private _market;
    uint256 private _written;
    uint256 private _updated;
    uint256 private _trades;
    uint256 private _taken;
    uint256 private _bandBps;
    /// @dev Until when nothing more is tried: a moment after even a sixteenth was refused.
    uint256 private _pause;

    function setUp() public override {
        super.setUp();
        // Dollars and ether alone.
        for (uint256 i = 2; i < 4; ++i) {
            uint256 held = tokens[i].balanceOf(address(account));
            vm.prank(address(account));
            tokens[i].transfer(address(0xDEAD), held);
        }
    }

    /// @dev The registered bands of dollars and ether.
    function _register(uint256 bandBps) private {
        for (uint256 i; i < 2; ++i) {
            uint8 band = uint8(i == 0 ? USD_BAND : bandBps);
            bytes memory change = _feeding(i, band);
            vm.prank(ADMINISTRATOR);
            _registry(guard).schedule(change);
            vm.warp(START + 2 days);
            vm.prank(ADMINISTRATOR);
            (bool succeeded,) = address(guard).call(change);
            assertTrue(succeeded, "not registered");
            vm.warp(START);
        }
        _bandBps = bandBps;
        vm.warp(START + 2 days);
        _refreshFeeds();
        account.install(guard, _permission(0x22222222, START + 1, START + 90 days, 0, 0));
    }

    function test_aFeedOf15BasisPointsLosesAtMostFourPercentAWeek() public {
        _play(15, 20 minutes, 8, 1);
    }

    function test_aFeedOf50BasisPointsLosesAtMostFourPercentAWeek() public {
        _play(50, 1 hours, 35, 2);
        assertTrue(_trades > 1, "no trade was worth its while");
    }

    function test_aFeedOf50BasisPointsLosesAtMostFourPercentAWeekTakenLate() public {
        _play(50, 1 hours, 20, 3);
    }

    function test_aFeedOf200BasisPointsLosesAtMostFourPercentAWeek() public {
        _play(200, 24 hours, 150, 4);
    }

    /// forge-config: default.fuzz.runs = 12
    function testFuzz_noMarketLosesMoreThanFourPercentInAnySevenDays(
        uint256 bandBps,
        uint256 heartbeat,
        uint256 takeAtBps,
        uint256 seed
    ) public {
        bandBps = _within(bandBps, 10, 255);
        _play(bandBps, _within(heartbeat, 20 minutes, 24 hours), _within(takeAtBps, bandBps / 4, bandBps), seed);
    }

    /// @dev All of a thief's moves in seven days, against what the account had: gains of the market do not count.
    function _play(uint256 bandBps, uint256 heartbeat, uint256 takeAtBps, uint256 seed) private {
        _register(bandBps);
        (_market, _written, _updated) = (2_500e8, 2_500e8, START + 2 days);
        uint256 kept = 1e18;
        for (uint256 minute = 1; minute <= MINUTES; ++minute) {
            if (!_moves(minute, heartbeat, takeAtBps, seed)) continue;
            (uint256 before, uint256 afterwards) = _take();
            kept = kept * afterwards / before;
        }
        assertLe(0.96e18, kept, "lost more than four percent in seven days");
    }

    /// @dev True when the thief takes this minute. 60 percent a year is 0.0828 percent a minute; one minute in a
    /// thousand jumps by up to five percent.
    function _moves(uint256 minute, uint256 heartbeat, uint256 takeAtBps, uint256 seed) private returns (bool) {
        uint256 dice = uint256(keccak256(abi.encode(seed, minute)));
        uint256 move = dice % 1_000 == 0 ? 1_000_000 + (dice >> 64) % 50_000 : 1_000_828;
        _market = (dice >> 32) & 1 == 1 ? _market * move / 1_000_000 : _market * 1_000_000 / move;
        uint256 time = START + 2 days + minute * 60;
        uint256 difference = _market > _written ? _market - _written : _written - _market;
        if (difference * 10_000 >= _written * _bandBps || time >= _updated + heartbeat) {
            (_written, _updated) = (_market, time);
            return false;
        }
        if (difference * 10_000 < _written * takeAtBps || time < _pause) return false;
        vm.warp(time);
        feeds[0].set(1e8, time, time);
        feeds[1].set(int256(_written), _updated, _updated);
        sequencer.set(0, START - 2 days, time);
        return true;
    }

    /// @dev As much as passes: all of it, or a half, a quarter and so on. At the market's prices, before and after.
    function _take() private returns (uint256 before, uint256 afterwards) {
        before = _atMarket();
        (uint256 sell, uint256 buy) = _market > _written ? (uint256(1), uint256(0)) : (uint256(0), uint256(1));
        prices[1] = _written;
        uint256 amount = tokens[sell].balanceOf(address(account));
        for (uint256 i; i < 5 && amount > 0; ++i) {
            try this.sellAtTheFeed(sell, buy, amount) {
                ++_trades;
                break;
            } catch {
                amount /= 2;
                if (i == 4) _pause = vm.getBlockTimestamp() + 1 hours;
            }
        }
        afterwards = _atMarket();
    }

    function sellAtTheFeed(uint256 sell, uint256 buy, uint256 amount) external {
        address[] memory listed = new address[](2);
        (listed[0], listed[1]) = (address(tokens[0]), address(tokens[1]));
        TradeGuard.Trade[] memory trades = _paying(sell, buy, amount, 10_000);
        TradeGuard.Evidence memory none;
        vm.prank(address(account));
        guard.trade(listed, trades, none, vm.getBlockTimestamp());
    }

    function _atMarket() private view returns (uint256) {
        return tokens[0].balanceOf(address(account)) * 100 + tokens[1].balanceOf(address(account)) * _market / 1e18;
    }

    /// @dev When a feed is later than its band, turnover bounds what is lost: the account twice a week.
    function test_aFeedThatIsLateLosesTheJumpOnTheAccountTwice() public {
        _register(50);
        uint256 worth = 1e18;
        for (uint256 i; i < 40; ++i) {
            // Five percent beyond the feed, each time in the thief's favour, and the feed says nothing of it.
            _written = 2_500e8;
            _market = i % 2 == 0 ? 2_625e8 : 2_381e8;
            (uint256 before, uint256 afterwards) = _take();
            worth = worth * afterwards / before;
        }
        assertLe(0.88e18, worth, "lost more than five percent of the account twice, and the budget");
        assertLe(worth, 0.95e18, "the attack took nothing worth a test");
    }

    /// @dev Three quarters of an account in its first allocation at thirty basis points, and five percent a day after.
    function test_aFirstAllocationAndADailyRebalanceFit() public {
        _register(50);
        vm.prank(address(account));
        tokens[1].transfer(address(0xDEAD), 10 ether);
        _market = 2_500e8;
        this.rebalance(0, 1, 18_750e6);
        for (uint256 day = 1; day <= 60; ++day) {
            vm.warp(START + 2 days + day * 1 days);
            _refreshFeeds();
            sequencer.set(0, START - 2 days, vm.getBlockTimestamp());
            uint256 worth = _atMarket() / 1e2;
            if (day % 2 == 0) this.rebalance(0, 1, worth / 20);
            else this.rebalance(1, 0, worth / 20 * 1e12 / 2_500);
        }
    }

    function rebalance(uint256 sell, uint256 buy, uint256 amount) external {
        address[] memory listed = new address[](2);
        (listed[0], listed[1]) = (address(tokens[0]), address(tokens[1]));
        TradeGuard.Evidence memory none;
        TradeGuard.Trade[] memory trades = _paying(sell, buy, amount, 9_970);
        vm.prank(address(account));
        guard.trade(listed, trades, none, vm.getBlockTimestamp());
    }
}
