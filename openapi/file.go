package openapi

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// unknown is the body of a media type that has neither example nor schema: an empty object where it is JSON, a file where the
// type names one, nothing else.
func (t *mediaType) unknown() made {
	switch {
	case t.parsed.isJSON():
		return made{bytes: []byte("{}"), text: true}
	case t.parsed.kind == "image" || t.parsed.subtype == "pdf" || t.parsed.subtype == "zip":
		return t.file()
	default:
		return made{}
	}
}

// file is the smallest sound file of a media type whose schema stands for bytes, so that programs can open what they
// download. Of other types it is a word, as far as the schema has room for it.
func (t *mediaType) file() made {
	if sample := sampleFile(t.parsed.subtype); len(sample) > 0 && t.holdsBytes(len(sample)) {
		return made{bytes: sample}
	}
	const word = "binary"
	if t.holdsBytes(len(word)) {
		return made{bytes: []byte(word)}
	}
	return made{}
}

// holdsBytes tells whether the schema allows so many bytes.
func (t *mediaType) holdsBytes(count int) bool {
	if t.schema == nil {
		return true
	}
	s := t.schema.owner.merge([]place{t.schema.place}, nil, mannerSchemas)
	return len(s.patterns) == 0 && count >= s.minLength && (s.maxLength < 0 || count <= s.maxLength)
}

// sampleFile is the smallest file of a format, nil for one that is not known. Writing to memory does not fail.
func sampleFile(format string) []byte {
	var b bytes.Buffer
	dot := image.NewGray(image.Rect(0, 0, 1, 1))
	switch format {
	case "png":
		_ = png.Encode(&b, dot)
	case "jpeg", "jpg":
		_ = jpeg.Encode(&b, dot, nil)
	case "gif":
		_ = gif.Encode(&b, dot, nil)
	case "zip", "x-zip-compressed":
		_ = zip.NewWriter(&b).Close()
	case "gzip", "x-gzip":
		_ = gzip.NewWriter(&b).Close()
	case "pdf":
		b.WriteString(emptyPage())
	case "svg+xml":
		b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`)
	}
	return b.Bytes()
}

// emptyPage is a PDF of one empty page.
func emptyPage() string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>",
	}
	places := make([]int, len(objects))
	for i, text := range objects {
		places[i] = b.Len()
		b.WriteString(strconv.Itoa(i+1) + " 0 obj" + text + "endobj\n")
	}
	table, count := b.Len(), strconv.Itoa(len(objects)+1)
	b.WriteString("xref\n0 " + count + "\n0000000000 65535 f \n")
	for _, at := range places {
		b.WriteString(pad(int64(at), 10) + " 00000 n \n")
	}
	b.WriteString("trailer<</Size " + count + "/Root 1 0 R>>\nstartxref\n" + strconv.Itoa(table) + "\n%%EOF\n")
	return b.String()
}

// records writes a list or an object in a type that is neither JSON nor XML: as rows, lines or events where the type says
// so, else as JSON.
func (t *mediaType) records(n *mockbase.Node) []byte {
	items := n.Items
	if n.Kind == mockbase.NodeObject {
		items = []*mockbase.Node{n}
	}
	before, after := "", "\n"
	switch t.parsed.subtype {
	case "csv":
		return rows(items)
	case "x-ndjson", "ndjson", "jsonl", "x-jsonlines", "jsonlines", "json-lines":
	case "json-seq":
		before = "\x1e"
	case "event-stream":
		before, after = "data: ", "\n\n"
	default:
		return n.JSON()
	}
	var b bytes.Buffer
	for _, item := range items {
		b.WriteString(before + string(item.JSON()) + after)
	}
	return b.Bytes()
}

// rows writes objects as CSV with a line of their names, lists as lines of their items.
func rows(items []*mockbase.Node) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for i, item := range items {
		var names, values []string
		for _, m := range item.Members {
			names, values = append(names, m.Key), append(values, scalarText(m.Value))
		}
		for _, own := range item.Items {
			values = append(values, scalarText(own))
		}
		if item.Kind != mockbase.NodeObject && item.Kind != mockbase.NodeList {
			values = []string{scalarText(item)}
		}
		if i == 0 && len(names) > 0 {
			_ = w.Write(names) // Writing to memory does not fail.
		}
		_ = w.Write(values)
	}
	w.Flush()
	return b.Bytes()
}
