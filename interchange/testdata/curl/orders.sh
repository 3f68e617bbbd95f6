curl 'https://shop.example/items?tag=a&tag=b&api_key=s3cret' \
  -H 'Accept: application/json' -u ada:secret --compressed
# a comment, and two requests that differ in their bodies
curl -sS -XPOST https://shop.example/orders -H 'Content-Type: application/json' -d '{"sku": "it'\''s"}'
curl --json "{\"sku\": \"b\"}" https://shop.example/orders; curl -d a=1 -d @file --data-urlencode 'b=x y' https://shop.example/form
curl -G shop.example/search --data-urlencode "q=a&b" -d page=2
curl -F photo=@a.png -T big.bin https://shop.example/upload
curl --request DELETE --url=https://shop.example/items/a%20b
curl -I https://shop.example/
curl -d $'line\n' -H 'Content-Type: text/plain' https://shop.example/notes
wget https://shop.example/
curl --next
