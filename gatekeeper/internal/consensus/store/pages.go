package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// These are the parts of bbolt's file format that are needed to check that a file is intact before bbolt trusts it.
// bbolt checks its two headers and reads everything else through mapped memory, partly on its own goroutines, whose
// panics cannot be recovered. Numbers are in the machine's byte order.
const (
	pageHeaderSize   = 16 // id 8, flags 2, count 2, overflow 4
	elementSize      = 16
	bucketHeaderSize = 16 // root page 8, sequence 8
	metaSize         = 64 // including the checksum
	boltMagic        = 0xED0CDAED
	branchPage       = 1
	leafPage         = 2
	isBucket         = 1
	maxDepth         = 64
)

// pages walks the pages of a bbolt file.
type pages struct {
	file  io.ReaderAt
	size  uint64 // the size of a page in bytes
	end   uint64 // all page ids are lower
	seen  map[uint64]bool
	visit func(bucket, key, value []byte) error
}

type meta struct{ pageSize, root, free, end, txid uint64 }

// noFreelist is stored in place of the freelist's page id in a header, because the freelist is not written.
const noFreelist = math.MaxUint64

// readMeta reads the header at an offset. bbolt keeps two headers. In each write, it first syncs all other pages and
// then overwrites the older header. If the newer header is broken, bbolt uses the older one. A crash cannot break
// either header: each is in the first 80 bytes of its page, so it lies within one sector, which disks write atomically.
// A write takes effect only once its header is on disk. A broken header must therefore be the result of bit rot, and
// using the older one would undo an acknowledged write, such as a vote.
func readMeta(file io.ReaderAt, at int64) (meta, error) {
	b := make([]byte, pageHeaderSize+metaSize)
	if err := intact.ReadAt(file, b, at); err != nil {
		return meta{}, fmt.Errorf("the header at byte %d: %w", at, err)
	}
	b = b[pageHeaderSize:]
	h := fnv.New64a()
	h.Write(b[:metaSize-8])
	if binary.NativeEndian.Uint32(b) != boltMagic || h.Sum64() != binary.NativeEndian.Uint64(b[metaSize-8:]) {
		return meta{}, fmt.Errorf("the header at byte %d is broken", at)
	}
	return meta{
		pageSize: uint64(binary.NativeEndian.Uint32(b[8:])), root: binary.NativeEndian.Uint64(b[16:]), free: binary.NativeEndian.Uint64(b[32:]),
		end: binary.NativeEndian.Uint64(b[40:]), txid: binary.NativeEndian.Uint64(b[48:]),
	}, nil
}

// walk calls visit with each key in a bucket, in order. It returns an error for the first page that bbolt cannot have
// written.
func walk(file io.ReaderAt, visit func(bucket, key, value []byte) error) error {
	a, err := readMeta(file, 0)
	if err != nil {
		return err
	}
	if a.pageSize < pageHeaderSize+metaSize || a.pageSize > math.MaxUint16+1 {
		return fmt.Errorf("invalid page size: %d bytes", a.pageSize)
	}
	b, err := readMeta(file, int64(a.pageSize))
	if err != nil {
		return err
	}
	if a.txid < b.txid {
		a, b = b, a
	}
	if a.txid != b.txid+1 {
		return fmt.Errorf("its two headers are from writes %d and %d, which are not consecutive", a.txid, b.txid)
	}
	if a.free != noFreelist {
		return errors.New("it has a freelist, which this program never writes: another program has written to it")
	}
	p := &pages{file: file, size: a.pageSize, end: a.end, seen: make(map[uint64]bool), visit: visit}
	return p.tree(nil, a.root, nil, nil, 0)
}

// tree walks a bucket's pages, starting at page id. All keys must be at least low and less than high. A nil bound
// means no limit.
func (p *pages) tree(bucket []byte, id uint64, low, high []byte, depth int) error {
	page, err := p.read(id)
	if err == nil {
		err = p.page(bucket, page, low, high, depth)
	}
	return err
}

func (p *pages) read(id uint64) ([]byte, error) {
	if id < 2 || id >= p.end {
		return nil, fmt.Errorf("it refers to page %d of %d", id, p.end)
	}
	page := make([]byte, p.size)
	if err := intact.ReadAt(p.file, page, int64(id*p.size)); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	more := uint64(binary.NativeEndian.Uint32(page[12:]))
	if got := binary.NativeEndian.Uint64(page); got != id || id+more >= p.end || more > 0 && p.claimedPages(page) != more+1 {
		return nil, fmt.Errorf("page %d claims to be page %d, with %d overflow pages", id, got, more)
	}
	for i := id; i <= id+more; i++ {
		if p.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		p.seen[i] = true
	}
	if more > 0 {
		page = make([]byte, (more+1)*p.size)
		if err := intact.ReadAt(p.file, page, int64(id*p.size)); err != nil {
			return nil, fmt.Errorf("page %d: %w", id, err)
		}
	}
	used, err := layout(page)
	if err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	if (used+p.size-1)/p.size != more+1 {
		return nil, fmt.Errorf("page %d holds %d bytes but occupies %d pages", id, used, more+1)
	}
	return page, nil
}

// claimedPages returns the number of pages that the elements of a page claim to occupy. This number is checked before
// the overflow pages are read, so that a corrupt page does not cause half of the file to be read. bbolt splits pages so
// that all element headers are on the first one.
func (p *pages) claimedPages(page []byte) uint64 {
	n := count(page)
	if n == 0 || pageHeaderSize+uint64(n)*elementSize > p.size {
		return 0
	}
	start, key, value := elementAt(page, n-1)
	return (start + key + value + p.size - 1) / p.size
}

// element is a page element. On a leaf page it has a value, and on a branch page it has a child.
type element struct {
	flags      uint32
	key, value []byte
	child      uint64
}

// elementAt reads an element. start is the offset of its key.
func elementAt(page []byte, i int) (start, keySize, valueSize uint64) {
	at := pageHeaderSize + uint64(i)*elementSize
	e := page[at : at+elementSize]
	if binary.NativeEndian.Uint16(page[8:]) == leafPage {
		return at + uint64(binary.NativeEndian.Uint32(e[4:])), uint64(binary.NativeEndian.Uint32(e[8:])), uint64(binary.NativeEndian.Uint32(e[12:]))
	}
	return at + uint64(binary.NativeEndian.Uint32(e)), uint64(binary.NativeEndian.Uint32(e[4:])), 0
}

func count(page []byte) int { return int(binary.NativeEndian.Uint16(page[10:])) }

// layout checks that the elements fill the page without a gap, as bbolt writes them, so that none can be missing. used
// is the number of bytes that they occupy, including the page header.
func layout(page []byte) (used uint64, err error) {
	if flags := binary.NativeEndian.Uint16(page[8:]); flags != leafPage && flags != branchPage {
		return 0, fmt.Errorf("unknown page type %d", flags)
	}
	used = pageHeaderSize + uint64(count(page))*elementSize
	if used > uint64(len(page)) {
		return 0, fmt.Errorf("it has %d keys, but only %d bytes", count(page), len(page))
	}
	for i := range count(page) {
		start, key, value := elementAt(page, i)
		if start != used || key == 0 || start+key+value > uint64(len(page)) {
			return 0, fmt.Errorf("key %d of %d is misplaced", i+1, count(page))
		}
		used = start + key + value
	}
	return used, nil
}

func elements(page []byte) []element {
	all := make([]element, count(page))
	leaf := binary.NativeEndian.Uint16(page[8:]) == leafPage
	for i := range all {
		start, key, value := elementAt(page, i)
		e := &all[i]
		e.key, e.value = page[start:start+key], page[start+key:start+key+value]
		at := pageHeaderSize + i*elementSize
		if leaf {
			e.flags = binary.NativeEndian.Uint32(page[at:])
		} else {
			e.child = binary.NativeEndian.Uint64(page[at+8:])
		}
	}
	return all
}

// page walks a page whose layout has been checked.
func (p *pages) page(bucket, page, low, high []byte, depth int) error {
	all := elements(page)
	leaf := binary.NativeEndian.Uint16(page[8:]) == leafPage
	switch {
	case depth > maxDepth:
		return errors.New("its pages refer to each other in a cycle")
	case len(all) == 0 && (!leaf || depth > 0):
		return errors.New("a page is empty")
	}
	for i, e := range all {
		next := high
		if i+1 < len(all) {
			next = all[i+1].key
		}
		if low != nil && bytes.Compare(e.key, low) < 0 || next != nil && bytes.Compare(e.key, next) >= 0 {
			return fmt.Errorf("key %q is out of order", e.key)
		}
		var err error
		switch {
		case !leaf:
			err = p.tree(bucket, e.child, e.key, next, depth+1)
		case bucket == nil:
			err = p.bucket(e)
		case e.flags != 0:
			err = fmt.Errorf("key %q has flags %d", e.key, e.flags)
		default:
			err = p.visit(bucket, e.key, e.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket walks a bucket. A small bucket is stored inline in its element. Any other bucket has separate pages.
func (p *pages) bucket(e element) error {
	if e.flags != isBucket || len(e.value) < bucketHeaderSize {
		return fmt.Errorf("%q is not a bucket", e.key)
	}
	if err := p.visit(e.key, nil, nil); err != nil {
		return err
	}
	if root := binary.NativeEndian.Uint64(e.value); root != 0 {
		return p.tree(e.key, root, nil, nil, 0)
	}
	page := e.value[bucketHeaderSize:]
	if len(page) < pageHeaderSize || binary.NativeEndian.Uint64(page) != 0 || binary.NativeEndian.Uint32(page[12:]) != 0 {
		return fmt.Errorf("bucket %q has a broken page", e.key)
	}
	used, err := layout(page)
	if err == nil && used != uint64(len(page)) {
		err = fmt.Errorf("%d bytes are unused", uint64(len(page))-used)
	}
	if err != nil {
		return fmt.Errorf("bucket %q: %w", e.key, err)
	}
	return p.page(e.key, page, nil, nil, 0)
}
