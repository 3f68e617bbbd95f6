package redisstore

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/ratelimit"
)

// banChunk is how many bans are read or lifted at a time.
const banChunk = 200

// Bans keeps offences and bans in Redis, for all replicas (rule RL100): one round trip for each question about a key. The
// two keys of an offender carry a hash tag, since one script touches both (rule RL59). A list of the bans in force lies
// beside them; an offence that bans is entered there by a second command, and if that fails the ban holds all the same,
// but is not listed. It is as safe for concurrent use as its store.
type Bans struct{ store *Store }

var _ ratelimit.Bans = (*Bans)(nil)

// Bans returns the register of bans in the store.
func (s *Store) Bans() *Bans { return &Bans{s} }

// Standing looks at a key and changes nothing.
func (b *Bans) Standing(ctx context.Context, r *ratelimit.BanRule, key string, now time.Time) (ratelimit.Standing, error) {
	return b.ask(ctx, r, key, now, 0)
}

// Strike counts an offence, and bans with the one that reaches the rule's number.
func (b *Bans) Strike(ctx context.Context, r *ratelimit.BanRule, key string, now time.Time) (ratelimit.Standing, error) {
	standing, err := b.ask(ctx, r, key, now, 1)
	if err == nil && standing.Struck {
		_ = b.list(ctx, &standing.Ban) // The ban holds, and the breaker knows.
	}
	return standing, err
}

// ask runs the script of offences, which counts as many as are given: one or none.
func (b *Bans) ask(ctx context.Context, r *ratelimit.BanRule, key string, now time.Time, offences int) (ratelimit.Standing, error) {
	if err := r.Validate(); err != nil {
		return ratelimit.Standing{}, fmt.Errorf("look at ban: %w", err)
	}
	extend := 0
	if r.Extend {
		extend = 1
	}
	identifier := ratelimit.KeyIdentifier(key)
	keys := b.keys(r.Name, identifier)
	answer, err := b.store.consult(ctx, b.store.target.scripts.offence, keys,
		exactTicks(now), r.MaxRetry, r.FindTime.Microseconds(), r.BanTime.Microseconds(), strconv.FormatFloat(r.Growth, 'g', -1, 64),
		extend, ratelimit.MaxBanGrowth.Microseconds(), offences)
	if err != nil {
		return ratelimit.Standing{}, err
	}
	read := reader{answer: answer}
	standing := ratelimit.Standing{Failures: read.number(), Banned: read.number() == 1, Struck: read.number() == 1}
	if standing.Banned {
		standing.Ban = read.ban(r.Name, identifier)
	}
	if read.fault != nil {
		return ratelimit.Standing{}, b.store.damaged(keys[0])
	}
	return standing, nil
}

// ban reads a ban as its hash holds it.
func (r *reader) ban(rule, identifier string) ratelimit.Ban {
	ban := ratelimit.Ban{Rule: rule, Identifier: identifier, From: r.instant(), Until: r.instant(), Repeat: r.number()}
	if network := r.text(); network != "" {
		prefix, err := netip.ParsePrefix(network)
		if err != nil {
			r.fault = errNoRecord
		}
		ban.Network = prefix
	}
	ban.Actor, ban.Reason = r.text(), r.text()
	return ban
}

// Forgive forgets the offences that have not banned yet.
func (b *Bans) Forgive(ctx context.Context, r *ratelimit.BanRule, key string) error {
	offences := b.keys(r.Name, ratelimit.KeyIdentifier(key))[1]
	return b.store.transact(ctx, offences, func(ctx context.Context, pipe redis.Pipeliner) { pipe.Del(ctx, offences) })
}

// Put brings a ban into force, in place of the one that the key has, and lists it. After an error it may hold.
func (b *Bans) Put(ctx context.Context, ban ratelimit.Ban) error {
	if !ratelimit.ValidName(ban.Rule) || ban.Identifier == "" {
		return fmt.Errorf("put ban of %q under rule %q: %w", ban.Identifier, ban.Rule, ratelimit.ErrConfig)
	}
	keys := b.keys(ban.Rule, ban.Identifier)
	network := ""
	if ban.Network.IsValid() {
		network = ban.Network.String()
	}
	life := ratelimit.MaxWindow
	if !ban.Until.IsZero() {
		life = max(0, ban.Until.Sub(b.store.clock())) + ratelimit.MaxBanGrowth
	}
	err := b.store.transact(ctx, keys[0], func(ctx context.Context, pipe redis.Pipeliner) {
		pipe.HSet(ctx, keys[0], "from", instantText(ban.From), "until", instantText(ban.Until), "repeat", ban.Repeat,
			"network", network, "actor", ban.Actor, "reason", ban.Reason)
		pipe.PExpire(ctx, keys[0], time.Duration(millis(life))*time.Millisecond)
		pipe.Del(ctx, keys[1])
	})
	if err != nil {
		return err
	}
	return b.list(ctx, &ban)
}

// Lift ends the ban of a key, or all bans of a rule.
func (b *Bans) Lift(ctx context.Context, rule, identifier string, now time.Time) (int, error) {
	switch {
	case !ratelimit.ValidName(rule):
		return 0, fmt.Errorf("lift bans of rule %q: %w", rule, ratelimit.ErrConfig)
	case identifier != "":
		return b.lift(ctx, []string{rule + "/" + identifier}, now)
	}
	lifted := 0
	for {
		members, err := b.listed(ctx, rule, "")
		if err != nil || len(members) == 0 {
			ended, failed := b.liftEnded(ctx, rule, now)
			if err == nil {
				err = failed
			}
			return lifted + ended, err
		}
		n, err := b.lift(ctx, members, now)
		if lifted += n; err != nil {
			return lifted, err
		}
	}
}

// liftEnded forgets the bans of a rule that have ended, so that none is a repeat of them.
func (b *Bans) liftEnded(ctx context.Context, rule string, now time.Time) (int, error) {
	lifted, cursor := 0, uint64(0)
	for {
		found, next, err := b.store.current().ZScan(ctx, b.ended(), cursor, rule+"/*", banChunk).Result()
		if err != nil {
			return lifted, b.store.target.judge(err)
		}
		var members []string
		for i := 0; i < len(found); i += 2 { // Each member is followed by its score.
			members = append(members, found[i])
		}
		n, err := b.lift(ctx, members, now)
		if lifted += n; err != nil || next == 0 {
			return lifted, err
		}
		cursor = next
	}
}

// lift ends the bans of members of the list and takes them off it. Doing it again does no harm.
func (b *Bans) lift(ctx context.Context, members []string, now time.Time) (int, error) {
	if len(members) == 0 {
		return 0, nil
	}
	// The keys lie anywhere in a cluster, and a script that is not loaded there would be one more round trip.
	pipe := b.store.current().Pipeline()
	answers := make([]*redis.Cmd, 0, len(members))
	for _, member := range members {
		answers = append(answers, pipe.Eval(ctx, b.store.target.scripts.liftText, b.keysOf(member), exactTicks(now)))
	}
	if err := b.store.target.judge(finish(ctx, pipe)...); err != nil {
		return 0, err
	}
	lifted := 0
	for _, answer := range answers {
		numbers, err := answer.Int64Slice()
		if err != nil || len(numbers) != 1 {
			return lifted, b.store.damaged(b.current())
		}
		lifted += int(numbers[0])
	}
	return lifted, b.store.transact(ctx, b.current(), func(ctx context.Context, pipe redis.Pipeliner) {
		pipe.ZRem(ctx, b.current(), anys(members)...)
		pipe.ZRem(ctx, b.ended(), anys(members)...)
	})
}

// Page lists the bans in force. Those that have ended leave the list meanwhile.
func (b *Bans) Page(ctx context.Context, q ratelimit.BanQuery) (ratelimit.BanPage, error) {
	var found []ratelimit.Ban
	after := q.Cursor
	for {
		members, err := b.listed(ctx, q.Rule, after)
		if err != nil {
			return ratelimit.BanPage{}, err
		}
		if len(members) == 0 {
			return ratelimit.PageOfBans(found, q), nil
		}
		bans, err := b.read(ctx, members)
		if err != nil {
			return ratelimit.BanPage{}, err
		}
		for i := range bans {
			if q.Selects(&bans[i]) {
				found = append(found, bans[i])
			}
		}
		if page := ratelimit.PageOfBans(found, q); page.Next != "" {
			return page, nil
		}
		after = members[len(members)-1]
	}
}

// read reads the bans of members of the list, and takes those off it that have ended for good.
func (b *Bans) read(ctx context.Context, members []string) ([]ratelimit.Ban, error) {
	pipe := b.store.current().Pipeline()
	answers := make([]*redis.SliceCmd, 0, len(members))
	for _, member := range members {
		answers = append(answers, pipe.HMGet(ctx, b.keysOf(member)[0], "from", "until", "repeat", "network", "actor", "reason"))
	}
	if err := b.store.target.judge(finish(ctx, pipe)...); err != nil {
		return nil, err
	}
	bans := make([]ratelimit.Ban, 0, len(members))
	var over []string
	now := b.store.clock()
	for i, answer := range answers {
		read := reader{answer: answer.Val()}
		rule, identifier, _ := strings.Cut(members[i], "/")
		ban := read.ban(rule, identifier)
		switch {
		case read.fault != nil, !ban.Holds(now.Add(-banSlack)):
			over = append(over, members[i])
		default:
			bans = append(bans, ban)
		}
	}
	b.retire(ctx, over, now)
	return bans, nil
}

// banSlack is how much later than its end a ban leaves the list: replicas differ about the time.
const banSlack = 10 * time.Second

// retire moves members from the list to the ended ones, which are remembered as long as repeats matter. It is housekeeping:
// what fails is done by the next one who reads.
func (b *Bans) retire(ctx context.Context, members []string, now time.Time) {
	if len(members) == 0 {
		return
	}
	scored := make([]redis.Z, 0, len(members))
	for _, member := range members {
		scored = append(scored, redis.Z{Score: float64(now.Add(ratelimit.MaxBanGrowth).Unix()), Member: member})
	}
	_ = b.store.transact(ctx, b.current(), func(ctx context.Context, pipe redis.Pipeliner) {
		pipe.ZRem(ctx, b.current(), anys(members)...)
		pipe.ZAdd(ctx, b.ended(), scored...)
		pipe.ZRemRangeByScore(ctx, b.ended(), "-inf", strconv.FormatInt(now.Unix(), 10))
		pipe.Expire(ctx, b.ended(), ratelimit.MaxBanGrowth+banSlack)
	})
}

// list enters a ban in the list.
func (b *Bans) list(ctx context.Context, ban *ratelimit.Ban) error {
	member := ban.Rule + "/" + ban.Identifier
	return b.store.transact(ctx, b.current(), func(ctx context.Context, pipe redis.Pipeliner) {
		pipe.ZAdd(ctx, b.current(), redis.Z{Member: member})
		pipe.ZRem(ctx, b.ended(), member)
		pipe.Expire(ctx, b.current(), ratelimit.MaxWindow) // As long as the longest ban.
	})
}

// listed returns members of the list in their order, of one rule if one is given, behind a member.
func (b *Bans) listed(ctx context.Context, rule, after string) ([]string, error) {
	from, to := "-", "+"
	if rule != "" {
		from, to = "["+rule+"/", "("+rule+string('/'+1)
	}
	if after != "" && after >= rule+"/" {
		from = "(" + after
	}
	var members *redis.StringSliceCmd
	err := b.store.transact(ctx, b.current(), func(ctx context.Context, pipe redis.Pipeliner) {
		members = pipe.ZRangeByLex(ctx, b.current(), &redis.ZRangeBy{Min: from, Max: to, Count: banChunk})
	})
	if err != nil {
		return nil, err
	}
	return members.Val(), nil
}

// keys are the ban and the offences of an identifier.
func (b *Bans) keys(rule, identifier string) []string { return b.keysOf(rule + "/" + identifier) }

// keysOf are the keys of a member of the list. Neither rules nor identifiers have braces.
func (b *Bans) keysOf(member string) []string {
	tagged := b.store.prefix + ":ban:{" + member + "}:"
	return []string{tagged + "until", tagged + "hits"}
}

// current is the list of the bans in force, ended that of those that may be repeated. No offender has a tag without a
// slash.
func (b *Bans) current() string { return b.store.prefix + ":ban:{list}:current" }

func (b *Bans) ended() string { return b.store.prefix + ":ban:{list}:ended" }

func anys(texts []string) []any {
	all := make([]any, 0, len(texts))
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}
